// SPDX-License-Identifier: Apache-2.0
//
// The machine's own id is confidential (machine-id(5)), so it never leaves: systemd derives one
// from it, and without systemd there is none.
#include "ship/engine/identity.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#include "protocol/base/json.h"
#endif

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_LIBSYSTEMD
#include <systemd/sd-id128.h>
#endif

void identity_machine(char machine[IDENTITY_MACHINE_SIZE]) {
    machine[0] = '\0';
#ifdef HAVE_LIBSYSTEMD
    static const sd_id128_t program =
        SD_ID128_MAKE(5b, 0e, 4f, 0b, 0d, 5d, 4d, 0c, 9c, 5e, 8e, 5a, 2f, 44, 81, 7d);
    sd_id128_t id;
    if (sd_id128_get_machine_app_specific(program, &id) >= 0) {
        sd_id128_to_string(id, machine);
    }
#endif
}

void identity_boot(char *boot, size_t size) {
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, boot, size - 1);
    if (fd >= 0) {
        close(fd);
    }
    boot[n > 0 ? n : 0] = '\0';
    boot[strcspn(boot, "\n")] = '\0';
}

void identity_host(char host[IDENTITY_HOST_SIZE]) {
    if (gethostname(host, IDENTITY_HOST_SIZE) != 0 || !*host) {
        snprintf(host, IDENTITY_HOST_SIZE, "localhost");
    }
    host[IDENTITY_HOST_SIZE - 1] = '\0';
}

void identity_labels(struct nvtxt_buf *json, const char *lines) {
    nvtxt_buf_add_string(json, "{");
    while (*lines) {
        size_t len = strcspn(lines, "\n");
        const char *equal = memchr(lines, '=', len);
        if (equal) {
            size_t key = (size_t)(equal - lines);
            nvtxt_buf_add_string(json, json->len > 1 ? "," : "");
            nvtxt_buf_add_json_string(json, (struct nvtxt_slice){lines, key});
            nvtxt_buf_add_string(json, ":");
            nvtxt_buf_add_json_string(json, (struct nvtxt_slice){equal + 1, len - key - 1});
        }
        lines += len + (lines[len] == '\n');
    }
    nvtxt_buf_add(json, "}", 2);
}
