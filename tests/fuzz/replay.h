// SPDX-License-Identifier: Apache-2.0
//
// A main() for a fuzz harness without libFuzzer: it gives every file of the corpus of the harness,
// tests/fuzz/corpus/PROGRAM/, or the files and folders on the command line, to
// LLVMFuzzerTestOneInput(). So `make check` shows that no input that once broke something does so
// again. A corpus that is missing or empty is a failure. The harness includes it once; it may name
// a further folder, from the top one on, as NVTXT_REPLAY_ALSO.
#pragma once

#define CR_NO_MAIN // see tests/unit/plain/criterion/criterion.h
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// What libFuzzer takes for a crash.
static inline void must(bool condition) {
    if (!condition) {
        abort();
    }
}

#ifndef NVTXT_LIBFUZZER

#include <dirent.h>
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The memory is exactly as large as the input, so that a sanitizer sees each byte read past it.
static void replay_file(const char *path) {
    FILE *file = fopen(path, "rb");
    struct stat stat;
    if (!file || fstat(fileno(file), &stat) != 0) {
        err(1, "%s", path);
    }
    size_t size = (size_t)stat.st_size;
    uint8_t *data = malloc(size ? size : 1);
    if (!data || fread(data, 1, size, file) != size) {
        errx(1, "%s: cannot read it", path);
    }
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
}

// Returns the number of files. Prints the name of each before it runs, for the case of a crash.
static unsigned replay(const char *path) {
    DIR *folder = opendir(path);
    if (!folder) {
        printf("# %s\n", path);
        fflush(stdout);
        replay_file(path);
        return 1;
    }
    unsigned count = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char inner[4096];
        if (entry->d_name[0] == '.') {
            continue;
        }
        snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name);
        count += replay(inner);
    }
    closedir(folder);
    return count;
}

int main(int argc, char **argv) {
    unsigned count = 0;
    for (int i = 1; i < argc; i++) {
        count += replay(argv[i]);
    }
    if (argc == 1) {
        const char *top = getenv("top_srcdir");
        const char *slash = strrchr(argv[0], '/');
        char corpus[4096];
        snprintf(corpus, sizeof(corpus), "%s/tests/fuzz/corpus/%s", top ? top : ".",
                 slash ? slash + 1 : argv[0]);
        count = replay(corpus);
#ifdef NVTXT_REPLAY_ALSO
        snprintf(corpus, sizeof(corpus), "%s/%s", top ? top : ".", NVTXT_REPLAY_ALSO);
        count += count ? replay(corpus) : 0;
#endif
    }
    printf("# %u inputs\n", count);
    return count == 0;
}

#endif
