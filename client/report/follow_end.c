// SPDX-License-Identifier: Apache-2.0
//
// The page as a file: whether there can be one again and again, and how it ends when there is
// nothing to make the last one of. The attribute that makes a page follow is in its first bytes, so
// such a page is copied without it.
#include "client/report/job.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/common/out_file.h"
#include "client/common/result_file.h"
#include "protocol/base/origin.h"

#define HEAD 256 // <html> begins and ends in them
#define PIECE 65536

enum outcome report_follow_check_output(const struct report_options *options, struct term *term) {
    char path[PATH_MAX];
    struct stat status;
    int fd;
    if (!*options->output || strlen(options->output) >= sizeof(path)) {
        return OUTCOME_DONE; // who opens it says so
    }
    int r = out_file_resolve(options->output, path, &fd);
    bool is_other = r == OUT_FILE_OPEN || (r == 0 && lstat(path, &status) == 0 &&
                                           !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
    if (is_other) {
        term_say(term,
                 "%s is no file that --follow can write again and again: name one with -o, such "
                 "as -o page.html",
                 options->output);
    }
    return is_other ? OUTCOME_USAGE : OUTCOME_DONE;
}

// The page from `fd` on without the attribute. Returns 0 or -errno.
static int copy_page(int fd, char *bytes, size_t len, struct nvtxt_out *out) {
    const size_t cut = strlen(REPORT_PAGE_FOLLOWS);
    const char *at = memmem(bytes, len, REPORT_PAGE_FOLLOWS, cut);
    size_t before = (size_t)(at - bytes);
    nvtxt_out_bytes(out, bytes, before);
    nvtxt_out_bytes(out, at + cut, len - before - cut);
    ssize_t got;
    while (!out->error && (got = read(fd, bytes, PIECE)) != 0) {
        if (got < 0) {
            return nvtxt_origin(-errno);
        }
        nvtxt_out_bytes(out, bytes, (size_t)got);
    }
    return nvtxt_out_flush(out);
}

static enum outcome replace_page(const struct report_options *options, struct term *term, int fd,
                                 char *bytes, size_t len) {
    struct result_file file;
    struct nvtxt_out out;
    enum outcome outcome = result_file_open(&file, term, options->output);
    if (outcome != 0) {
        return outcome;
    }
    int r = nvtxt_out_init(&out, file.fd);
    if (r == 0) {
        r = copy_page(fd, bytes, len, &out);
        nvtxt_out_deinit(&out);
    }
    if (r < 0) {
        term_say(term, "cannot write to %s: %s", options->output, strerror(-r));
    }
    outcome = r < 0 ? outcome_of_error(r, OUTCOME_IO) : result_file_publish(&file, term);
    result_file_discard(&file);
    return outcome;
}

enum outcome report_follow_end_page(const struct report_options *options, struct term *term) {
    char bytes[PIECE];
    int fd = open(options->output, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = fd < 0 ? -1 : read(fd, bytes, HEAD);
    bool follows =
        got > 0 && memmem(bytes, (size_t)got, REPORT_PAGE_FOLLOWS, strlen(REPORT_PAGE_FOLLOWS));
    enum outcome outcome =
        follows ? replace_page(options, term, fd, bytes, (size_t)got) : OUTCOME_DONE;
    if (fd >= 0) {
        close(fd);
    }
    return outcome;
}
