// SPDX-License-Identifier: Apache-2.0
//
// A daemon accepts when its socket takes a connection, which is closed at once. Only the question
// for the store sends something, on the control socket.
#include "client/locate/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/locate/control_link.h"
#include "protocol/base/limits.h"

void probe_sockets(struct search *search, bool all) {
    for (size_t i = 0; i < search->count && (all || search->won < 0); i++) {
        struct search_place *place = &search->places[i];
        struct control_link link;
        if (place->state == SEARCH_FOREIGN) {
            continue;
        }
        control_link_init(&link, place->path);
        int result = control_link_open(&link, false);
        control_link_close(&link);
        search_note(place, result == CONTROL_LINK_FULL ? 0 : result); // a daemon has that queue
        if (place->state == SEARCH_GOOD && search->won < 0) {
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
        search_note(place, try_to_read(place->path));
        if (place->state == SEARCH_GOOD && search->won < 0) {
            search->won = (int)i;
        }
    }
}

// Asks a control socket where its daemon's store is.
static int ask_store(const char *control, char *store, size_t size) {
    struct nvtxt_ctl_reply reply = {0};
    struct control_link link;
    control_link_init(&link, control);
    int result = control_link_open(&link, false);
    if (result != 0) {
        return result;
    }
    result = control_link_ask(&link, "status", NULL, PROBE_ASK_MS, &reply);
    if (result == 0) {
        const char *path = json_string_value(json_object_get(reply.result, "store"));
        bool denied = !reply.ok && strcmp(reply.code, NVTXT_CTL_FORBIDDEN) == 0;
        result = denied ? -EACCES : reply.ok && path ? 0 : CONTROL_LINK_BAD_ANSWER;
        if (result == 0 && snprintf(store, size, "%s", path) >= (int)size) {
            result = -ENAMETOOLONG;
        }
    }
    nvtxt_ctl_reply_deinit(&reply);
    control_link_close(&link);
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
    int result = ask_store(control, path, sizeof(path));
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

// Of the stores before the one that is used: those that were named, or are a daemon's.
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

enum outcome probe_find_store(struct term *term, const char *advice, char *store, size_t size) {
    struct search sockets, stores;
    char control[PATH_MAX] = "";
    char places[SEARCH_MOST * 640];
    search_data(&sockets, NULL);
    probe_sockets(&sockets, false);
    const struct search_place *daemon = sockets.won < 0 ? NULL : &sockets.places[sockets.won];
    if (daemon) {
        search_control_beside(daemon->path, control, sizeof(control));
    }
    int asked = probe_list_stores(&stores, daemon, control);
    probe_stores(&stores, false);
    bool is_set = stores.won == 0 && stores.places[0].is_named; // $NVTXT_STORE
    if (asked != 0 && daemon->is_named && !is_set) {
        term_say(term,
                 "the daemon at %s (%s) does not say where its store is (%s: %s); name the "
                 "store, or set NVTXT_STORE",
                 daemon->path, daemon->whose, control, control_link_why(asked));
        return OUTCOME_NO_INPUT;
    }
    if (stores.won < 0) {
        term_say(term, "no store can be read at %s; %s",
                 search_list(&stores, places, sizeof(places)), advice);
        return OUTCOME_NO_INPUT;
    }
    warn_of_passed_over(term, &stores);
    snprintf(store, size, "%s", stores.places[stores.won].path);
    return OUTCOME_DONE;
}
