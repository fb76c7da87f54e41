// SPDX-License-Identifier: Apache-2.0
//
// The line is put together on the stack and written with one call. The way up is what backtrace()
// finds. Most of our functions are static, which the loader does not know: their names are read
// from the symbol table of the file that they are in.
#include "protocol/base/origin.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_MOST 1024
#define WAY_MOST 24 // functions, with our own

struct line {
    char text[LINE_MOST];
    size_t len;
};

// What has no room is left out; there is always room for the end of the line.
static void add_bytes(struct line *line, const char *bytes, size_t len) {
    size_t room = sizeof(line->text) - 1 - line->len;
    len = len < room ? len : room;
    memcpy(line->text + line->len, bytes, len);
    line->len += len;
}

static void add_text(struct line *line, const char *text) {
    add_bytes(line, text, strlen(text));
}

static void add_number(struct line *line, unsigned long number) {
    char digits[24], *at = digits + sizeof(digits);
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    add_bytes(line, at, (size_t)(digits + sizeof(digits) - at));
}

// ---- Names of functions -------------------------------------------------------------------------

// A file that is mapped to be read.
struct object {
    const char *bytes;
    size_t size;
};

static struct object map_object(const char *path) {
    struct object object = {NULL, 0};
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &status) == 0) {
        object.size = (size_t)status.st_size;
        object.bytes = mmap(NULL, object.size, PROT_READ, MAP_PRIVATE, fd, 0);
        object.bytes = object.bytes == MAP_FAILED ? NULL : object.bytes;
    }
    if (fd >= 0) {
        close(fd);
    }
    return object;
}

// The function of a symbol table that has the address. `names`: the texts of the table.
static const char *find_in_table(const ElfW(Sym) * symbols, size_t count, const char *names,
                                 uintptr_t address) {
    for (size_t i = 0; i < count; i++) {
        if (ELF32_ST_TYPE(symbols[i].st_info) == STT_FUNC &&
            address - symbols[i].st_value < symbols[i].st_size) {
            return names + symbols[i].st_name;
        }
    }
    return NULL;
}

// The file is one that runs, so it is what it says it is.
static const char *find_function(const struct object *object, uintptr_t address) {
    const ElfW(Ehdr) *head = (const void *)object->bytes;
    const ElfW(Shdr) *sections = (const void *)(object->bytes + head->e_shoff);
    for (size_t i = 0; i < head->e_shnum; i++) {
        if (sections[i].sh_type == SHT_SYMTAB) {
            return find_in_table((const void *)(object->bytes + sections[i].sh_offset),
                                 sections[i].sh_size / sizeof(ElfW(Sym)),
                                 object->bytes + sections[sections[i].sh_link].sh_offset, address);
        }
    }
    return NULL;
}

// Adds the name, without what a compiler appends to it, if it is another than `unless`. Returns
// whether it was the program's main().
static bool add_function(struct line *line, const char *name, const char *unless) {
    size_t len = strcspn(name, ".@");
    bool is_same = strlen(unless) == len && memcmp(name, unless, len) == 0;
    if (!is_same) {
        add_text(line, " < ");
        add_bytes(line, name, len);
    }
    return len == strlen("main") && memcmp(name, "main", len) == 0;
}

// Adds the function of an address. What has no name is "?". Returns whether it was main().
static bool add_address(struct line *line, void *address, const char *unless) {
    Dl_info info;
    struct link_map *map = NULL;
    if (!dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) || !map) {
        return add_function(line, "?", unless);
    }
    struct object object = map_object(*map->l_name ? map->l_name : "/proc/self/exe");
    const char *name =
        object.bytes ? find_function(&object, (uintptr_t)address - map->l_addr) : NULL;
    name = name ?: info.dli_sname;
    bool is_main = add_function(line, name ?: "?", unless);
    if (object.bytes) {
        munmap((void *)object.bytes, object.size);
    }
    return is_main;
}

// The frames begin with our own ones: up to `caller`, where the errno was born.
static void add_way(struct line *line, const void *caller, const char *born_in) {
    void *addresses[WAY_MOST];
    int count = backtrace(addresses, WAY_MOST), at = 0;
    while (at < count && addresses[at] != caller) {
        at++;
    }
    for (int i = at; i < count; i++) {
        if (add_address(line, (char *)addresses[i] - 1, i == at ? born_in : "")) {
            break;
        }
    }
}

// ---- A line -------------------------------------------------------------------------------------

static bool is_power_of_ten(unsigned long number) {
    while (number > 1 && number % 10 == 0) {
        number /= 10;
    }
    return number == 1;
}

static void add_error(struct line *line, int r) {
    const char *name = r < 0 ? strerrorname_np(-r) : NULL;
    add_text(line, r < 0 ? "-" : "");
    if (name) {
        add_text(line, name);
    } else {
        add_number(line, (unsigned long)(r < 0 ? -r : r));
    }
}

// Folders above the top one are of no use: a path of the compiler begins in the build folder.
static const char *path_in_tree(const char *path) {
    while (strncmp(path, "../", 3) == 0) {
        path += 3;
    }
    return path;
}

int nvtxt_origin_tell(struct nvtxt_origin_place *place, int r) {
    unsigned long count = ++place->count;
    if (!is_power_of_ten(count)) {
        return r;
    }
    int saved = errno;
    struct line line = {.len = 0};
    add_text(&line, "origin: ");
    add_error(&line, r);
    add_text(&line, " in ");
    add_text(&line, place->function);
    add_text(&line, " (");
    add_text(&line, path_in_tree(place->file));
    add_text(&line, ":");
    add_number(&line, (unsigned long)place->line);
    if (count > 1) {
        add_text(&line, ", time ");
        add_number(&line, count);
    }
    add_text(&line, ")");
    add_way(&line, __builtin_return_address(0), place->function);
    line.text[line.len++] = '\n';
    (void)!write(STDERR_FILENO, line.text, line.len);
    errno = saved;
    return r;
}

// The first backtrace() loads a library, which allocates: not in the call that fails.
static __attribute__((constructor)) void prepare(void) {
    void *address;
    backtrace(&address, 1);
}
