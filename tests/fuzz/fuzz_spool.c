// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the files of a spool: the session file up to the first NUL byte, the last segment
// after it. Opening and reading them ends in lines that are whole and counted, or in a sentence;
// the second time it ends as the first time.
#include "tests/fuzz/replay.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/spool/spool.h"

#define ID "7f0c1a2b-0000-4000-8000-00000000000a"

static char dir[192];

static void put_file(const char *name, const uint8_t *data, size_t len) {
    char path[256];
    snprintf(path, sizeof(path), "%s/" ID "%s", dir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    must(fd >= 0 && (len == 0 || write(fd, data, len) == (ssize_t)len));
    close(fd);
}

static void read_spool(struct spool *spool) {
    struct segment_record record;
    uint64_t line = spool_first(spool) - 1;
    int result;
    while ((result = spool_next(spool, line, &record)) == 0) {
        uint32_t lines = 0;
        for (size_t i = 0; i < record.len; i++) {
            lines += record.data[i] == '\n';
        }
        must(lines == record.lines && lines > 0 && record.data[record.len - 1] == '\n');
        line += lines;
    }
    must(result == SPOOL_NONE && line == spool->last);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
    size_t session = nul ? (size_t)(nul - data) : size;
    size_t segment = nul ? size - session - 1 : 0;
    struct nvtxt_hello hello;
    struct spool spool;
    const char *temporary = getenv("TMPDIR"); // one in memory is many times as fast
    snprintf(dir, sizeof(dir), "%.150s/fuzz_spool.%ld", temporary ? temporary : "/tmp",
             (long)getpid());
    must(access(dir, F_OK) == 0 || mkdir(dir, 0700) == 0);
    put_file(".session", data, session);
    put_file(".000001.segment", nul ? nul + 1 : data, segment);
    int first = spool_open(&spool, dir, ID, &hello);
    spool_close(&spool);
    int result = spool_open(&spool, dir, ID, &hello);
    must(result == first);
    must(result == 0 || result == SPOOL_NONE || (result == SPOOL_BAD && *spool.fault));
    if (result == 0) {
        read_spool(&spool);
    }
    spool_remove(&spool); // the segment too, when its name was found
    spool_close(&spool);
    char path[256];
    snprintf(path, sizeof(path), "%s/" ID ".000001.segment", dir);
    unlink(path);
    rmdir(dir);
    return 0;
}
