// SPDX-License-Identifier: Apache-2.0
//
// Runs the search that all programs use, but tries all places. A daemon that answers this user says
// where its store is. A path that is printed alone is opened first, as the other programs do.
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

struct where {
    struct found found;
    struct search stores;
    bool differs; // data and store are of different daemons
};

static const char *state_of(const struct search_place *place, const char *good) {
    return place->state == SEARCH_GOOD        ? good
           : place->state == SEARCH_FORBIDDEN ? "forbidden"
                                              : "absent";
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
    where->differs = find_is_of_another(&where->found, &where->stores);
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
    json_t *result =
        json_pack("{s:o, s:o, s:o, s:b}", "sockets", describe(&where->found.data, "accepts"),
                  "controls", describe(&where->found.control, "accepts"), "stores",
                  describe(&where->stores, "readable"), "different_daemons", where->differs);
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

static void print_all(const struct where *where) {
    print_text("data", &where->found.data, "accepts");
    print_text("control", &where->found.control, "accepts");
    print_text("store", &where->stores, "can be read");
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
    struct store_reader *reader;
    char why[PATH_MAX + 256];
    int r = store_read_open(&reader, path, why, sizeof(why));
    store_read_close(reader);
    if (r == STORE_DONE) {
        return OUTCOME_DONE;
    }
    term_say(term, "%s", *why ? why : "out of memory");
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
