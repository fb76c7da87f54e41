// SPDX-License-Identifier: Apache-2.0
//
// Runs the search that all programs use, but tries all places. A daemon that answers this user says
// where its store is. Stores are opened, as the other programs do: one that these would refuse is
// not one that can be read.
#include "client/ctl/ctl.h"

#include <errno.h>
#include <string.h>

#include "client/common/term.h"
#include "client/ctl/ctl_format.h"
#include "client/ctl/ctl_options.h"
#include "client/locate/find.h"
#include "client/locate/probe.h"
#include "client/locate/search.h"
#include "store/read/reader.h"
#include "store/value/codes.h"

#define REASON_BYTES (PATH_MAX + 256)

struct where {
    struct found found;
    struct search stores;
    char refused[SEARCH_MOST][REASON_BYTES]; // why a store is refused that is there; "": it is not
    bool differs;                            // data and store are of different daemons
};

// What the programs would say of a store. Returns a result of store_read_open().
static int try_store(const char *path, char why[REASON_BYTES]) {
    struct store_reader *reader;
    *why = '\0';
    int r = store_read_open(&reader, path, why, REASON_BYTES);
    store_read_close(reader);
    if (r != STORE_DONE && !*why) {
        snprintf(why, REASON_BYTES, "out of memory");
    }
    return r;
}

// The path stands before it in the list.
static void try_stores(struct where *where) {
    for (size_t i = 0; i < where->stores.count; i++) {
        const struct search_place *place = &where->stores.places[i];
        char *why = where->refused[i];
        size_t len = strlen(place->path);
        *why = '\0';
        if (place->state == SEARCH_GOOD && try_store(place->path, why) == STORE_DONE) {
            *why = '\0';
        }
        if (strncmp(why, place->path, len) == 0 && why[len] == ' ') {
            memmove(why, why + len + 1, strlen(why + len + 1) + 1);
        }
    }
}

static void look(struct where *where, const struct ctl_options *options) {
    bool is_short = options->timeout_ms >= 0 && options->timeout_ms < PROBE_ASK_MS;
    struct find_how how = {.named = options->socket,
                           .all = true,
                           .timeout_ms = is_short ? (int)options->timeout_ms : PROBE_ASK_MS};
    find_daemon(&where->found, &how);
    if (where->found.won < 0 && search_is_named(&where->found.data)) {
        where->found.control.count = 0; // nobody says where it would be
    }
    find_stores(&where->found, &where->stores);
    probe_stores(&where->stores, true);
    try_stores(where);
    where->differs = find_is_of_another(&where->found, &where->stores);
}

// ---- What is said of a place --------------------------------------------------------------------

struct said {
    const char *state;
    const char *why; // NULL: it can be used
};

static struct said say_place(const struct where *where, const struct search *search, size_t i,
                             const char *good) {
    const struct search_place *place = &search->places[i];
    if (search == &where->stores && *where->refused[i]) {
        return (struct said){"refused", where->refused[i]};
    }
    return place->state == SEARCH_GOOD
               ? (struct said){good, NULL}
               : (struct said){place->state == SEARCH_FORBIDDEN ? "forbidden" : "absent",
                               search_why(place)};
}

// ---- For programs -------------------------------------------------------------------------------

static json_t *describe(const struct where *where, const struct search *search, const char *good) {
    json_t *list = json_array();
    for (size_t i = 0; list && i < search->count; i++) {
        const struct search_place *place = &search->places[i];
        struct said said = say_place(where, search, i, good);
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s*, s:b}", "path", place->path,
                                              "whose", place->whose, "state", said.state, "why",
                                              said.why, "wins", (int)i == search->won));
    }
    return list;
}

static void print_json(const struct where *where) {
    json_t *result =
        json_pack("{s:o, s:o, s:o, s:b}", "sockets", describe(where, &where->found.data, "accepts"),
                  "controls", describe(where, &where->found.control, "accepts"), "stores",
                  describe(where, &where->stores, "readable"), "different_daemons", where->differs);
    if (result) {
        format_json(result);
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

static void print_text(const struct where *where, const char *title, const struct search *search,
                       const char *good) {
    int width = widest(search);
    for (size_t i = 0; i < search->count; i++) {
        const struct search_place *place = &search->places[i];
        char path[PATH_MAX];
        term_printable(path, sizeof(path), place->path);
        struct said said = say_place(where, search, i, good);
        printf("%-8s%s %-*s  %-13s  %s%s%s\n", i == 0 ? title : "",
               (int)i == search->won ? "*" : " ", width, path, place->whose, said.state,
               said.why ? ": " : "", said.why ?: "");
    }
}

static void print_all(const struct where *where) {
    print_text(where, "data", &where->found.data, "accepts");
    print_text(where, "control", &where->found.control, "accepts");
    print_text(where, "store", &where->stores, "can be read");
    if (where->differs) {
        printf("data and store are of different daemons: the store of this daemon is ");
        char path[PATH_MAX];
        term_printable(path, sizeof(path), where->found.store);
        puts(path);
    }
}

// Says why there is no daemon, to people.
static enum outcome say_none(const struct found *found, const struct ctl_options *options,
                             struct term *term) {
    if (search_is_named(&found->data)) {
        return find_say_none(options->json ? NULL : term, &found->data);
    }
    if (!options->json) {
        term_say(term, "no daemon accepts; 'nvtxtd &' starts one of your own");
    }
    return OUTCOME_NO_DAEMON;
}

static enum outcome flush(struct term *term) {
    if (fflush(stdout) != 0) {
        term_say(term, "cannot write: %s", strerror(errno));
        return OUTCOME_IO;
    }
    return OUTCOME_DONE;
}

static enum outcome check_store(const char *path, struct term *term) {
    char why[REASON_BYTES];
    int r = try_store(path, why);
    if (r == STORE_DONE) {
        return OUTCOME_DONE;
    }
    term_say(term, "%s", why);
    return r < 0             ? outcome_of_open(r)
           : r == STORE_BUSY ? OUTCOME_LATER
           : r == STORE_IO   ? OUTCOME_IO
                             : OUTCOME_BAD_DATA;
}

// For other commands: sqlite3 "$(nvtxt-ctl where --store)".
static enum outcome print_store(const struct ctl_options *options, struct term *term) {
    char path[PATH_MAX];
    enum outcome outcome =
        find_store(term, options->socket, "set NVTXT_STORE to name one", path, sizeof(path));
    outcome = outcome == OUTCOME_DONE ? check_store(path, term) : outcome;
    if (outcome != OUTCOME_DONE) {
        return outcome;
    }
    if (options->json) {
        json_t *result = json_pack("{s:s}", "store", path);
        format_json(result);
        json_decref(result);
    } else {
        puts(path); // as it is: it will be opened
    }
    return flush(term);
}

enum outcome ctl_where(const struct ctl_options *options, struct term *term) {
    struct where where;
    if (options->only_store) {
        return print_store(options, term);
    }
    look(&where, options);
    if (options->json) {
        print_json(&where);
    } else {
        print_all(&where);
    }
    enum outcome outcome = flush(term);
    if (!options->json && where.found.won >= 0 && where.stores.count == 0) {
        (void)find_say_no_daemon(term, &where.found);
    }
    if (outcome == OUTCOME_DONE && where.found.won < 0) {
        outcome = say_none(&where.found, options, term);
    }
    return outcome;
}
