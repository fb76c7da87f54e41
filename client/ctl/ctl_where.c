// SPDX-License-Identifier: Apache-2.0
//
// Runs the search that all programs use, but tries all places. A daemon that answers this user says
// where its store is.
#include "client/ctl/ctl_where.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "client/common/term.h"
#include "client/ctl/ctl_options.h"
#include "client/locate/probe.h"
#include "client/locate/search.h"
#include "protocol/base/limits.h"

struct where {
    struct search data, control, stores;
};

static const char *state_of(const struct search_place *place, const char *good) {
    return place->state == SEARCH_GOOD        ? good
           : place->state == SEARCH_FORBIDDEN ? "forbidden"
                                              : "absent";
}

// --socket names the control socket, or the data socket in the same folder.
static void look(struct where *where, const char *named) {
    char data[PATH_MAX], control[PATH_MAX];
    search_control(&where->control, named);
    if (named) {
        const char *path = where->control.places[0].path;
        const char *slash = strrchr(path, '/');
        snprintf(data, sizeof(data), "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path,
                 NVTXT_DATA_SOCKET);
    }
    search_data(&where->data, named ? data : NULL);
    probe_sockets(&where->data, true);
    probe_sockets(&where->control, true);
    const struct search_place *daemon = NULL;
    if (where->data.won >= 0) {
        daemon = &where->data.places[where->data.won];
        search_control_beside(daemon->path, control, sizeof(control));
    } else if (where->control.won >= 0) {
        daemon = &where->control.places[where->control.won];
        snprintf(control, sizeof(control), "%s", daemon->path);
    }
    probe_list_stores(&where->stores, daemon, named ? where->control.places[0].path : control);
    probe_stores(&where->stores, true);
}

// ---- For programs -------------------------------------------------------------------------------

static json_t *describe(const struct search *search, const char *good) {
    json_t *list = json_array();
    for (size_t i = 0; list && i < search->count; i++) {
        const struct search_place *place = &search->places[i];
        bool bad = place->state != SEARCH_GOOD;
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s*, s:b}", "path", place->path,
                                              "whose", place->whose, "state", state_of(place, good),
                                              "why", bad ? search_why(place) : NULL, "wins",
                                              (int)i == search->won));
    }
    return list;
}

static void print_json(const struct where *where) {
    json_t *result = json_pack("{s:o, s:o, s:o}", "sockets", describe(&where->data, "accepts"),
                               "controls", describe(&where->control, "accepts"), "stores",
                               describe(&where->stores, "readable"));
    if (result) {
        json_dumpf(result, stdout, JSON_COMPACT);
        fputc('\n', stdout);
    }
    json_decref(result);
}

// ---- For people ---------------------------------------------------------------------------------

static int widest(const struct search *search) {
    size_t most = 0;
    for (size_t i = 0; i < search->count; i++) {
        size_t len = strlen(search->places[i].path);
        most = len > most ? len : most;
    }
    return (int)most;
}

static void print_text(const char *title, const struct search *search, const char *good) {
    int width = widest(search);
    for (size_t i = 0; i < search->count; i++) {
        const struct search_place *place = &search->places[i];
        char path[PATH_MAX];
        term_printable(path, sizeof(path), place->path);
        bool bad = place->state != SEARCH_GOOD;
        printf("%-8s%s %-*s  %-13s  %s%s%s\n", i == 0 ? title : "",
               (int)i == search->won ? "*" : " ", width, path, place->whose, state_of(place, good),
               bad ? ": " : "", bad ? search_why(place) : "");
    }
}

enum outcome ctl_where(const struct ctl_options *options, struct term *term) {
    struct where where;
    look(&where, options->socket);
    if (options->json) {
        print_json(&where);
    } else {
        print_text("data", &where.data, "accepts");
        print_text("control", &where.control, "accepts");
        print_text("store", &where.stores, "can be read");
    }
    if (fflush(stdout) != 0) {
        term_say(term, "cannot write: %s", strerror(errno));
        return OUTCOME_IO;
    }
    bool live = where.data.won >= 0 || where.control.won >= 0;
    if (!live && !options->json) {
        term_say(term, "no daemon accepts; 'nvtxtd &' starts one of your own");
    }
    return live ? OUTCOME_DONE : OUTCOME_NO_DAEMON;
}
