// SPDX-License-Identifier: Apache-2.0
//
// libsystemd opens the files that it can and is silent about the others, so we look ourselves.
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/journal/journal_reader.h"
#include "protocol/base/origin.h"

struct rights {
    size_t files, readable;
    bool closed; // a folder may not be listed
};

static void look_at_folder(struct rights *rights, const char *path) {
    DIR *dir = opendir(path);
    if (!dir) {
        rights->closed |= errno == EACCES;
        return;
    }
    struct dirent *file;
    while ((file = readdir(dir))) {
        if (nvtxt_ends_with(file->d_name, ".journal") ||
            nvtxt_ends_with(file->d_name, ".journal~")) {
            rights->files++;
            rights->readable += faccessat(dirfd(dir), file->d_name, R_OK, AT_EACCESS) == 0;
        }
    }
    closedir(dir);
}

static enum outcome judge(const struct rights *rights, const char *name, bool quiet,
                          struct term *term) {
    if (rights->readable == 0 && (rights->files > 0 || rights->closed)) {
        term_say(term,
                 "%s: no right to read it; members of the group systemd-journal may: 'adduser USER "
                 "systemd-journal', then log in again",
                 name);
        return OUTCOME_FORBIDDEN;
    }
    if (rights->files == 0) {
        term_say(term, "%s: there are no journal files", name);
        return OUTCOME_NO_INPUT;
    }
    if (rights->readable < rights->files && !quiet) {
        term_say(term,
                 "%s: only your own entries can be read: %zu of %zu files; members of the group "
                 "systemd-journal may read all",
                 name, rights->readable, rights->files);
    }
    return OUTCOME_DONE;
}

enum outcome journal_rights_check(const char *source, const char *const *folders, bool quiet,
                                  struct term *term) {
    struct rights rights = {0};
    struct stat status;
    if (!source) {
        for (; *folders; folders++) {
            look_at_folder(&rights, *folders);
        }
        return judge(&rights, "the journal of this machine", quiet, term);
    }
    if (stat(source, &status) < 0) {
        int error = errno;
        term_say(term, "%s: %s", source, strerror(error));
        return error == EACCES ? OUTCOME_FORBIDDEN : OUTCOME_NO_INPUT;
    }
    if (S_ISDIR(status.st_mode)) {
        look_at_folder(&rights, source);
    } else {
        rights.files = 1;
        rights.readable = faccessat(AT_FDCWD, source, R_OK, AT_EACCESS) == 0;
    }
    return judge(&rights, source, quiet, term);
}
