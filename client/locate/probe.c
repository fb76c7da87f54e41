// SPDX-License-Identifier: Apache-2.0
//
// A daemon that accepts is one whose socket takes a connection, which is closed again at once. Only
// the question for a store speaks, to the control socket.
#include "client/locate/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sysexits.h>
#include <unistd.h>

#include "client/locate/control_link.h"
#include "protocol/base/limits.h"

int probe_connect(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = strlen(path);
    if (len > NVTXT_SOCKET_BYTES) {
        return -ENAMETOOLONG;
    }
    memcpy(address.sun_path, path, len);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -errno;
    }
    if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        int error = errno;
        close(fd);
        return -error;
    }
    return fd;
}

void probe_sockets(struct search *search, bool all) {
    for (size_t i = 0; i < search->count && (all || search->won < 0); i++) {
        struct search_place *place = &search->places[i];
        if (place->result == SEARCH_FOREIGN) {
            continue;
        }
        int fd = probe_connect(place->path);
        place->result = fd == -EAGAIN ? 0 : fd < 0 ? fd : 0; // a full queue is a daemon's
        if (fd >= 0) {
            close(fd);
        }
        if (place->result == 0 && search->won < 0) {
            search->won = (int)i;
        }
    }
}

static int try_to_read(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return -errno;
    }
    close(fd);
    return 0;
}

void probe_stores(struct search *search, bool all) {
    for (size_t i = 0; i < search->count && (all || search->won < 0); i++) {
        struct search_place *place = &search->places[i];
        place->result = try_to_read(place->path);
        if (place->result == 0 && search->won < 0) {
            search->won = (int)i;
        }
    }
}

int probe_ask_store(const char *control, char *store, size_t size) {
    struct nvtxt_ctl_reply reply = {0};
    struct ctl_link link;
    ctl_link_init(&link, control);
    link.fd = probe_connect(control);
    if (link.fd < 0) {
        return link.fd;
    }
    int result = ctl_link_ask(&link, "status", NULL, PROBE_ASK_MS, &reply);
    if (result == 0) {
        const char *path = json_string_value(json_object_get(reply.result, "store"));
        bool denied = !reply.ok && strcmp(reply.code, NVTXT_CTL_FORBIDDEN) == 0;
        result = denied ? -EACCES : reply.ok && path ? 0 : -EPROTO;
        if (result == 0 && snprintf(store, size, "%s", path) >= (int)size) {
            result = -ENAMETOOLONG;
        }
    }
    nvtxt_ctl_reply_deinit(&reply);
    ctl_link_close(&link);
    return result;
}

// ---- The store that is read ---------------------------------------------------------------------

int probe_list_stores(struct search *stores, const struct search_place *daemon,
                      const char *control) {
    char path[PATH_MAX];
    search_stores(stores, NULL);
    if (!daemon) {
        return 0;
    }
    int result = probe_ask_store(control, path, sizeof(path));
    if (result == 0) {
        search_put_store(stores, path);
    } else if (!daemon->is_named) {
        for (size_t i = 0; i < stores->count; i++) {
            if (strcmp(stores->places[i].whose, daemon->whose) == 0) {
                snprintf(path, sizeof(path), "%s", stores->places[i].path);
                search_put_store(stores, path);
                break;
            }
        }
    }
    return result;
}

// What comes before the one that is used, and was named or is a daemon's.
static void warn_of_passed_over(struct term *term, const struct search *stores) {
    size_t end = stores->won < 0 ? stores->count : (size_t)stores->won;
    for (size_t i = 0; i < end; i++) {
        const struct search_place *place = &stores->places[i];
        if (place->is_named) {
            term_say(term, "warning: the store %s (%s) cannot be read: %s", place->path,
                     place->whose, search_why(place));
        }
    }
}

int probe_find_store(struct term *term, char *store, size_t size) {
    struct search sockets, stores;
    char control[PATH_MAX] = "";
    char places[SEARCH_MOST * 640];
    search_data(&sockets, NULL);
    probe_sockets(&sockets, false);
    const struct search_place *daemon = sockets.won < 0 ? NULL : &sockets.places[sockets.won];
    if (daemon) {
        search_control_beside(daemon->path, control, sizeof(control));
    }
    int said = probe_list_stores(&stores, daemon, control);
    probe_stores(&stores, false);
    bool is_told = stores.won == 0 && stores.places[0].is_named; // $NVTXT_STORE
    if (said < 0 && daemon->is_named && !is_told) {
        term_say(term,
                 "the daemon at %s (%s) does not say where its store is (%s: %s); name the store "
                 "with --store or NVTXT_STORE",
                 daemon->path, daemon->whose, control, strerror(-said));
        return EX_NOINPUT;
    }
    if (stores.won < 0) {
        term_say(term, "no store can be read at %s; name one with --store",
                 search_list(&stores, places, sizeof(places)));
        return EX_NOINPUT;
    }
    warn_of_passed_over(term, &stores);
    snprintf(store, size, "%s", stores.places[stores.won].path);
    return 0;
}
