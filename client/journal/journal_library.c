// SPDX-License-Identifier: Apache-2.0
#include "client/journal/journal_library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#define NAME "libsystemd.so.0"

static bool find(void *handle, const char *name, void **call) {
    *call = dlsym(handle, name);
    return *call;
}

const struct journal_library *journal_library(const char **fault) {
    static struct journal_library library;
    static bool loaded;
    if (loaded) {
        return &library;
    }
    void *handle = dlopen(NAME, RTLD_NOW | RTLD_LOCAL);
#define JOURNAL_FIND(name) &&find(handle, #name, (void **)(void *)&library.name)
    loaded = handle JOURNAL_CALLS(JOURNAL_FIND);
#undef JOURNAL_FIND
    *fault = loaded ? NULL : dlerror();
    return loaded ? &library : NULL;
}
