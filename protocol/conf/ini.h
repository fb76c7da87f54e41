// SPDX-License-Identifier: Apache-2.0
//
// protocol/conf: what the configurations and command lines of the programs have in common: files of
// lines Key=Value with their drop-ins, tables of keys and of options, and the kinds of values. It
// owns no configuration and knows no key and no option: the tables are the caller's. One thread at
// a time. It prints nothing: faults go to the caller.
//
// This header: one file, INI as systemd writes it, with one section. Each fault goes to `complain`
// as one sentence with file and line that says what is allowed. Reading goes on after a fault, so
// the user sees all faults at once.
#pragma once

#include <stdio.h>

#include "protocol/conf/keys.h"

#define NVTXT_INI_LINE_BYTES 198 // longest line that is no comment

struct nvtxt_faults {
    void (*complain)(void *context, const char *sentence);
    void *context;
};

struct nvtxt_ini {
    const char *section; // the only one that is known: "nvtxtd"
    const char *manual;  // the page that lists the keys: "nvtxtd.conf(5)"
    const struct nvtxt_faults *faults;
    // Takes a key of the section. Of a bad key or value it tells nvtxt_ini_fault(), and returns 0.
    // Returns -errno to end the reading of this file.
    int (*take)(struct nvtxt_ini *ini, const char *name, const char *value);
    void *context; // of `take`

    const char *path; // the place of the line that is read
    unsigned line;
    enum { NVTXT_INI_BEFORE, NVTXT_INI_INSIDE, NVTXT_INI_ELSEWHERE } at;
    bool faulty; // there was a fault, in any of the files
};

// Reads all lines of a file. Returns 0, or -errno when it cannot be read or `take` failed.
int nvtxt_ini_read(struct nvtxt_ini *ini, FILE *file, const char *path);

// Reports a fault at the place of the line that is read.
void nvtxt_ini_fault(struct nvtxt_ini *ini, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// The faults of every program's keys: there is no such key (`near`: the name that was meant, or
// NULL), or its value is bad; `why` says what is expected.
void nvtxt_ini_unknown_key(struct nvtxt_ini *ini, const char *name, const char *near);
void nvtxt_ini_bad_value(struct nvtxt_ini *ini, const char *name, const char *value,
                         const char *why);

// ---- All files of a configuration (protocol/conf/conf_files.c) ----------------------------------

// Reads the main file, then its drop-ins, FILE.d/*.conf in the order of the bytes of their names. A
// later file may set a key again. The caller has set the first members of `ini`, up to `context`;
// afterwards `faulty` says whether there were faults, and `complain` has got a sentence for each. A
// file that cannot be read, or whose reading `take` has ended, is a fault. When it is the main
// file, no drop-in is read, and -errno is returned; else 0. A main file that does not exist is a
// fault only if `must_exist`.
int nvtxt_conf_files_read(struct nvtxt_ini *ini, const char *path, bool must_exist);

// Whether the usual file of a program, where nobody named one, is in a home folder that this user
// may not read: then there is no configuration.
bool nvtxt_conf_is_hidden(const char *path);

// For `take`, a key of the table: sets it, or reports a fault. `*key` is the row, or NULL if it was
// not set. Returns 0 or -ENOMEM.
int nvtxt_conf_take(const struct nvtxt_conf_table *table, void *values, struct nvtxt_ini *ini,
                    const char *name, const char *value, const struct nvtxt_conf_key **key);
