// SPDX-License-Identifier: Apache-2.0
//
// The data socket is asked first. A daemon before 0.2.0 does not say where its control socket is:
// then it is looked for beside the data socket, and asked whose it is.
#include "client/locate/find.h"

#include <stdio.h>
#include <string.h>

#include "client/common/input.h"
#include "client/locate/control_link.h"
#include "client/locate/probe.h"
#include "protocol/base/limits.h"

// A relative path is of the daemon's folder, which nobody knows.
static bool is_same_socket(const char *said, const char *path) {
    return *said == '/' ? input_is_same(said, path)
                        : strcmp(nvtxt_base_name(said), nvtxt_base_name(path)) == 0;
}

// What is known of one place beside its sockets.
struct said {
    char store[NVTXT_REPLY_PATH_BYTES];
    int why, silent;
};

static void try_control(struct found *found, size_t i, bool needs_proof, bool wants_store,
                        struct said *said) {
    const struct search_place *data = &found->data.places[i];
    struct search_place *control = &found->control.places[i];
    char socket[NVTXT_REPLY_PATH_BYTES], store[NVTXT_REPLY_PATH_BYTES];
    search_note(control, probe_accepts(control->path));
    said->why = control->error;
    if (control->state != SEARCH_GOOD || !(needs_proof || wants_store)) {
        return;
    }
    said->why = probe_status(control->path, socket, store, sizeof(store));
    if (needs_proof && *socket && !is_same_socket(socket, data->path)) {
        control->state = SEARCH_OTHER;
        said->why = CONTROL_LINK_CLOSED;
    } else if (wants_store) {
        strcpy(said->store, store);
    }
}

// The socket that was named is a control socket.
static void take_control(struct found *found, size_t i, bool wants_store, struct said *said) {
    struct search_place *data = &found->data.places[i], *control = &found->control.places[i];
    char socket[NVTXT_REPLY_PATH_BYTES];
    *control = *data;
    if (!wants_store) {
        return;
    }
    said->why = probe_status(control->path, socket, said->store, sizeof(said->store));
    search_beside(control->path, *socket ? nvtxt_base_name(socket) : NVTXT_DATA_SOCKET, data->path,
                  sizeof(data->path));
    if (*socket == '/') {
        snprintf(data->path, sizeof(data->path), "%s", socket);
    }
    search_note(data, probe_accepts(data->path));
}

static void take_answer(struct found *found, size_t i, const struct probe_who *who,
                        bool wants_store, struct said *said) {
    bool says = who->kind == PROBE_DATA && *who->control;
    if (says) {
        struct search_place *control = &found->control.places[i];
        snprintf(control->path, sizeof(control->path), "%s", who->control);
    }
    strcpy(said->store, who->store);
    said->silent = who->kind == PROBE_SILENT ? who->why : 0;
    try_control(found, i, !says, wants_store && !*said->store, said);
}

// Where no data socket accepts, the usual control socket may. Not where the data socket was named:
// nobody says then that the control socket is its own.
static void try_place(struct found *found, size_t i, const struct find_how *how,
                      struct said *said) {
    struct search_place *data = &found->data.places[i], *control = &found->control.places[i];
    struct probe_who who = {.kind = PROBE_CONTROL};
    bool is_control = how->named && strcmp(nvtxt_base_name(data->path), NVTXT_CONTROL_SOCKET) == 0;
    if (data->state == SEARCH_FOREIGN) {
        return;
    }
    int r = is_control ? probe_accepts(data->path)
                       : probe_ask(data->path, how->wait && data->is_named, how->timeout_ms, &who);
    if (r == CONTROL_LINK_FULL) {
        who.why = r;
        r = 0;
    }
    search_note(data, r);
    if (r == 0 && who.kind == PROBE_CONTROL) {
        take_control(found, i, !how->no_store, said);
    } else if (r == 0) {
        take_answer(found, i, &who, !how->no_store, said);
    } else if (data->is_named) {
        control->state = data->state;
        control->error = data->error;
    } else {
        try_control(found, i, false, !how->no_store, said);
    }
}

void find_daemon(struct found *found, const struct find_how *how) {
    *found = (struct found){.won = -1};
    search_data(&found->data, how->named);
    search_control(&found->control, &found->data);
    for (size_t i = 0; i < found->data.count && (how->all || found->won < 0); i++) {
        struct said said = {.why = 0};
        try_place(found, i, how, &said);
        bool has_data = found->data.places[i].state == SEARCH_GOOD;
        bool has_control = found->control.places[i].state == SEARCH_GOOD;
        if (found->won < 0 && (has_data || has_control)) {
            found->won = (int)i;
            found->data.won = has_data ? (int)i : -1;
            found->control.won = has_control ? (int)i : -1;
            strcpy(found->store, said.store);
            found->why = said.why;
            found->silent = said.silent;
        }
    }
}

enum outcome find_check_path(struct term *term, const struct search *data) {
    const struct search_place *first = &data->places[0];
    if (!first->is_named || search_socket_fits(first->path)) {
        return OUTCOME_DONE;
    }
    term_say(term, "'%s' (%s) cannot be a socket's path: it must have 1 to %d bytes", first->path,
             first->whose, NVTXT_SOCKET_BYTES);
    return OUTCOME_USAGE;
}

enum outcome find_say_none(struct term *term, const struct search *search) {
    char text[SEARCH_MOST * 640], advice[512];
    enum outcome outcome = search_explain(search, text, sizeof(text), advice, sizeof(advice));
    if (term) {
        term_say(term, "%s%s%s", text, *advice ? "; " : "", advice);
    }
    return outcome;
}

// ---- The store ----------------------------------------------------------------------------------

void find_stores(const struct found *found, struct search *stores) {
    bool named = search_is_named(&found->data);
    search_stores(stores, NULL);
    if (search_is_named(stores)) {
        return;
    }
    if (named) {
        stores->count = 0;
    }
    if (*found->store) {
        search_put_store(stores, found->store, named);
        return;
    }
    for (size_t i = 0; found->won >= 0 && i < stores->count; i++) {
        if (strcmp(stores->places[i].whose, found->data.places[found->won].whose) == 0) {
            char path[PATH_MAX];
            snprintf(path, sizeof(path), "%s", stores->places[i].path);
            search_put_store(stores, path, false);
            return;
        }
    }
}

// Whether `path` is a segment of the store, as nvtxtd names them.
static bool is_segment(const char *path, const char *store) {
    char folder[PATH_MAX], other[PATH_MAX];
    const char *name = nvtxt_base_name(store), *dot = strrchr(name, '.');
    size_t stem = dot ? (size_t)(dot - name) : strlen(name);
    search_beside(path, ".", folder, sizeof(folder));
    search_beside(store, ".", other, sizeof(other));
    return input_is_same(folder, other) && strncmp(nvtxt_base_name(path), name, stem) == 0 &&
           nvtxt_base_name(path)[stem] == '-';
}

bool find_is_of_another(const struct found *found, const struct search *stores) {
    if (found->won < 0 || !*found->store || stores->won < 0) {
        return false;
    }
    const char *path = stores->places[stores->won].path;
    return !input_is_same(path, found->store) && !is_segment(path, found->store);
}

// The daemon's own store is passed over when it cannot be read.
static void warn_of_passed_over(struct term *term, const struct search *stores) {
    for (int i = 0; i < stores->won; i++) {
        const struct search_place *place = &stores->places[i];
        if (place->is_named) {
            term_say(term, "warning: the store %s (%s) cannot be read: %s", place->path,
                     place->whose, search_why(place));
        }
    }
}

static enum outcome say_no_store(struct term *term, const struct found *found,
                                 const struct search *stores, const char *advice) {
    char places[SEARCH_MOST * 640];
    const struct search_place *first = &stores->places[0];
    const struct search_place *daemon = &found->data.places[0];
    if (!search_is_named(stores)) {
        term_say(term, "no store can be read at %s; %s",
                 search_list(stores, places, sizeof(places)), advice);
    } else if (*found->store) {
        term_say(term, "the store %s of the daemon at %s (%s) cannot be read: %s", first->path,
                 daemon->path, daemon->whose, search_why(first));
    } else {
        term_say(term, "no store can be read at %s: %s (%s names it)", first->path,
                 search_why(first), first->whose);
    }
    return OUTCOME_NO_INPUT;
}

enum outcome find_say_no_daemon(struct term *term, const struct found *found) {
    const struct search_place *daemon = &found->data.places[0];
    if (found->won < 0) {
        return find_say_none(term, &found->data);
    }
    const char *control = found->control.places[0].path;
    term_say(term,
             "the daemon at %s (%s) does not say where its store is (%s: %s); name the store, or "
             "set NVTXT_STORE",
             daemon->path, daemon->whose, found->silent ? daemon->path : control,
             control_link_why(found->silent ?: found->why));
    return OUTCOME_NO_INPUT;
}

enum outcome find_store(struct term *term, const char *named, const char *advice, char *store,
                        size_t size) {
    struct found found = {.won = -1};
    struct search stores;
    search_stores(&stores, NULL);
    if (!search_is_named(&stores)) {
        search_data(&found.data, named);
        enum outcome outcome = find_check_path(term, &found.data);
        if (outcome != OUTCOME_DONE) {
            return outcome;
        }
        find_daemon(&found, &(struct find_how){.named = named, .timeout_ms = PROBE_ASK_MS});
        if (search_is_named(&found.data) && !*found.store) {
            return find_say_no_daemon(term, &found);
        }
        find_stores(&found, &stores);
    }
    probe_stores(&stores, false);
    if (stores.won < 0) {
        return say_no_store(term, &found, &stores, advice);
    }
    warn_of_passed_over(term, &stores);
    snprintf(store, size, "%s", stores.places[stores.won].path);
    return OUTCOME_DONE;
}
