// SPDX-License-Identifier: Apache-2.0
//
// A program for the libnvtxt of 0.1. tests/old_lib.mk builds it twice from this source: with the
// header of 0.1 and linked to a library whose symbols have the versions of 0.1, and with today's of
// both. e2e/test_old_library.py runs both on today's library.
//
// nvtxt.h and nvtxt.map beside this file are those of the commit that brought the library, def1c8ca
// (git show def1c8ca:lib/nvtxt.h), unchanged but for the map's NVTXT_PRIVATE, which is no promise.
// They stay as they are: a program that calls more than they have belongs in another folder.
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <nvtxt.h>
#include <stdio.h>
#include <string.h>

#define MEMBER(type, member)                                                                       \
    printf(#type "." #member " at %zu, %zu bytes\n", offsetof(struct type, member),                \
           sizeof(((struct type *)NULL)->member))

static void print_layout(void) {
    MEMBER(nvtxt_attr, size);
    MEMBER(nvtxt_attr, message);
    MEMBER(nvtxt_attr, string);
    MEMBER(nvtxt_attr, json);
    MEMBER(nvtxt_attr, category);
    MEMBER(nvtxt_attr, color);
    MEMBER(nvtxt_attr, value_kind);
    MEMBER(nvtxt_attr, reserved);
    MEMBER(nvtxt_attr, value);
    MEMBER(nvtxt_options, size);
    MEMBER(nvtxt_options, socket);
    MEMBER(nvtxt_options, name);
    MEMBER(nvtxt_options, spool);
    MEMBER(nvtxt_options, ring_bytes);
    MEMBER(nvtxt_options, window_bytes);
    MEMBER(nvtxt_options, exit_ms);
    MEMBER(nvtxt_stats, size);
    MEMBER(nvtxt_stats, recorded);
    MEMBER(nvtxt_stats, dropped);
    MEMBER(nvtxt_stats, ignored);
    MEMBER(nvtxt_stats, lines_sent);
    MEMBER(nvtxt_stats, lines_acked);
    MEMBER(nvtxt_stats, connected);
    printf("values %d %d %d %d %d %d %d\n", NVTXT_NO_VALUE, NVTXT_U64, NVTXT_I64, NVTXT_F64,
           NVTXT_U32, NVTXT_I32, NVTXT_F32);
}

static void print_sizes(void) {
    printf("%zu %zu %zu\n", sizeof(struct nvtxt_attr), sizeof(struct nvtxt_options),
           sizeof(struct nvtxt_stats));
}

// An attribute with every member, in memory whose end is not the library's.
static struct nvtxt_attr attr_of(const char *message, enum nvtxt_value_kind kind) {
    struct nvtxt_attr attr = {.size = sizeof(attr), .message = message};
    attr.json = "{\"old\":1}";
    attr.category = 7;
    attr.color = 0xFF102030;
    attr.value_kind = kind;
    return attr;
}

static void record_events(struct nvtxt_domain *domain) {
    struct nvtxt_attr attr = attr_of("push_ex", NVTXT_U64);
    attr.value.u64 = UINT64_MAX;
    printf("push %d\n", nvtxt_push("push"));
    printf("push_ex %d\n", nvtxt_push_ex(domain, &attr));
    printf("pop_ex %d\n", nvtxt_pop_ex(domain, "{\"end\":2}"));
    printf("pop %d\n", nvtxt_pop());
    printf("pop of none %s\n", nvtxt_pop() == -ENOENT ? "ENOENT" : "else");
    nvtxt_mark("mark");
    attr = attr_of(NULL, NVTXT_F32);
    attr.string = nvtxt_string_get("mark_ex");
    attr.value.f32 = 0.5F;
    nvtxt_mark_ex(domain, &attr);
    nvtxt_end(nvtxt_start("start"));
    attr = attr_of("start_ex", NVTXT_I32);
    attr.value.i32 = -3;
    nvtxt_end_ex(nvtxt_start_ex(domain, &attr), "{}");
    const struct nvtxt_string *counter = nvtxt_string_get("counter");
    nvtxt_sample_i64(domain, counter, 3); // no level: options had no such member
    nvtxt_sample_f64(domain, counter, 4.5);
    nvtxt_name_category(domain, 7, "category");
    nvtxt_name_thread(0, "thread");
    nvtxt_name_process("process");
    nvtxt_name_resource(domain, "stream", 9, "resource");
}

// As a program does that knows only the members of 0.1; what follows them must not be written.
static int run(void) {
    struct nvtxt_options options = {.size = sizeof(options), .name = "old name"};
    options.ring_bytes = 65536;
    options.exit_ms = 60000;
    printf("init %d\n", nvtxt_init(&options));
    struct nvtxt_domain *domain = nvtxt_domain_get("old");
    printf("domain %s\n", domain == nvtxt_domain_get("old") ? "same" : "other");
    record_events(domain);
    printf("init %s\n", nvtxt_init(&options) == -EALREADY ? "EALREADY" : "else");
    printf("flush %d\n", nvtxt_flush(200000));
    struct {
        struct nvtxt_stats stats;
        char after[64];
    } all;
    memset(&all, 0x5A, sizeof(all));
    all.stats.size = sizeof(all.stats);
    nvtxt_get_stats(&all.stats);
    for (size_t i = 0; i < sizeof(all.after); i++) {
        if (all.after[i] != 0x5A) {
            printf("stats are longer than their size\n");
            return 1;
        }
    }
    printf("stats %" PRIu64 " %" PRIu64 " %" PRIu64 " %d\n", all.stats.recorded, all.stats.dropped,
           all.stats.ignored, all.stats.connected);
    return 0;
}

// Functions of versions after 0.1, by name and version.
static int print_later(void) {
    static const char *const versions[] = {"NVTXT_0.2", "NVTXT_1.0"};
    for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
        uint32_t (*color)(const char *) =
            (uint32_t(*)(const char *))dlvsym(RTLD_DEFAULT, "nvtxt_color", versions[i]);
        void (*finish)(void) = (void (*)(void))dlvsym(RTLD_DEFAULT, "nvtxt_finish", versions[i]);
        if (!color || !finish) {
            printf("not in %s\n", versions[i]);
            return 1;
        }
        printf("%s %08" PRIX32 "\n", versions[i], color("red"));
        nvtxt_mark(versions[i]);
        finish();
    }
    return 0;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "layout") == 0) {
        print_layout();
    } else if (strcmp(what, "sizes") == 0) {
        print_sizes();
    } else if (strcmp(what, "run") == 0) {
        return run();
    } else if (strcmp(what, "later") == 0) {
        return print_later();
    } else {
        return 64;
    }
    return 0;
}
