// SPDX-License-Identifier: Apache-2.0
//
// The places where a daemon is by default, as its clients find them. Anybody can make a folder in
// /tmp, so one there counts only when it is a real folder of ours.
#include "client/locate/search.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol/base/limits.h"

// ---- The places ---------------------------------------------------------------------------------

static struct search_place *add_place(struct search *search, const char *whose, const char *format,
                                      ...) __attribute__((format(printf, 3, 4)));

static struct search_place *add_place(struct search *search, const char *whose, const char *format,
                                      ...) {
    struct search_place *place = &search->places[search->count++];
    va_list args;
    va_start(args, format);
    vsnprintf(place->path, sizeof(place->path), format, args);
    va_end(args);
    place->whose = whose;
    place->is_named = false;
    place->state = SEARCH_UNTRIED;
    return place;
}

static const char *environment(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static bool is_ours(const char *folder) {
    struct stat status;
    return lstat(folder, &status) != 0 ||
           (S_ISDIR(status.st_mode) && status.st_uid == geteuid() && !(status.st_mode & 022));
}

static void add_own_sockets(struct search *search) {
    const char *runtime = environment("XDG_RUNTIME_DIR");
    char folder[64];
    if (runtime && *runtime == '/') {
        add_place(search, "yours", NVTXT_RUNTIME_SOCKETS "/" NVTXT_DATA_SOCKET, runtime);
    }
    snprintf(folder, sizeof(folder), NVTXT_TMP_SOCKETS, (unsigned)geteuid());
    struct search_place *place = add_place(search, "yours", "%s/" NVTXT_DATA_SOCKET, folder);
    if (!is_ours(folder)) {
        place->state = SEARCH_FOREIGN;
    }
}

static void add_sockets(struct search *search) {
    bool root = geteuid() == 0;
    for (int i = 0; i < 2; i++) {
        if (root == (i == 0)) {
            add_place(search, "the system's", NVTXT_SYSTEM_SOCKETS "/" NVTXT_DATA_SOCKET);
        } else {
            add_own_sockets(search);
        }
    }
}

// Adds the place that the option or the environment names. Returns whether there is one.
static bool begin(struct search *search, const char *option, const char *named,
                  const char *variable) {
    const char *path = named ?: environment(variable + 1);
    search->count = 0;
    search->won = -1;
    if (path) {
        add_place(search, named ? option : variable, "%s", path)->is_named = true;
    }
    return path != NULL;
}

void search_data(struct search *search, const char *named) {
    if (!begin(search, "--socket", named, "$NVTXT_SOCKET")) {
        add_sockets(search);
    }
}

bool search_is_named(const struct search *search) {
    return search->count == 1 && search->places[0].is_named;
}

void search_beside(const char *socket, const char *name, char *path, size_t size) {
    const char *slash = strrchr(socket, '/');
    int folder = slash ? (int)(slash - socket) + 1 : 0;
    snprintf(path, size, "%.*s%s", folder, socket, name);
}

void search_control(struct search *search, const struct search *data) {
    search->count = data->count;
    search->won = -1;
    for (size_t i = 0; i < data->count; i++) {
        struct search_place *place = &search->places[i];
        place->whose = data->places[i].whose;
        place->is_named = data->places[i].is_named;
        place->state = data->places[i].state;
        place->error = 0;
        search_beside(data->places[i].path, NVTXT_CONTROL_SOCKET, place->path, sizeof(place->path));
    }
}

static void add_own_store(struct search *search) {
    const char *state = environment("XDG_STATE_HOME");
    const char *home = environment("HOME");
    if (state && *state == '/') {
        add_place(search, "yours", NVTXT_STATE_STORE "/" NVTXT_STORE_FILE, state);
        return;
    }
    if (!home || *home != '/') {
        const struct passwd *entry = getpwuid(geteuid());
        home = entry && entry->pw_dir && *entry->pw_dir == '/' ? entry->pw_dir : "";
    }
    add_place(search, "yours", NVTXT_HOME_STORE "/" NVTXT_STORE_FILE, home);
}

void search_stores(struct search *search, const char *named) {
    bool root = geteuid() == 0;
    if (begin(search, "--store", named, "$NVTXT_STORE")) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        if (root == (i == 0)) {
            add_place(search, "the system's", "%s", NVTXT_SYSTEM_STORE "/" NVTXT_STORE_FILE);
        } else {
            add_own_store(search);
        }
    }
}

void search_put_store(struct search *search, const char *path, bool alone) {
    size_t from = 0;
    search->count = alone ? 0 : search->count;
    while (from < search->count && strcmp(search->places[from].path, path) != 0) {
        from++;
    }
    search->count += from == search->count;
    memmove(&search->places[1], &search->places[0], from * sizeof(search->places[0]));
    struct search_place *place = &search->places[0];
    *place = (struct search_place){.whose = "the daemon's", .is_named = true};
    snprintf(place->path, sizeof(place->path), "%s", path);
}

bool search_socket_fits(const char *path) {
    return *path && strlen(path) <= NVTXT_SOCKET_BYTES;
}

// ---- What came of the tries
// --------------------------------------------------------------------------

// What is there instead of a socket that accepts.
static const char *why_refused(const char *path) {
    struct stat status;
    if (stat(path, &status) != 0 || S_ISSOCK(status.st_mode)) {
        return strerror(ECONNREFUSED);
    }
    return S_ISDIR(status.st_mode) ? "it is a folder, not a socket" : "it is not a socket";
}

const char *search_why(const struct search_place *place) {
    switch (place->state) {
    case SEARCH_GOOD:
        return "it is there";
    case SEARCH_UNTRIED:
        return "not tried";
    case SEARCH_FOREIGN:
        return "its folder is not one of yours alone";
    case SEARCH_TOO_LONG:
        return "too long for a Unix socket";
    case SEARCH_FULL:
        return "its queue of connections is full";
    case SEARCH_OTHER:
        return "it is another daemon's";
    case SEARCH_ABSENT:
    case SEARCH_FORBIDDEN:
        break;
    }
    return place->error == -ECONNREFUSED ? why_refused(place->path) : strerror(-place->error);
}

void search_note(struct search_place *place, int r) {
    place->error = r;
    switch (r > 0 ? EAGAIN : -r) {
    case 0:
        place->state = SEARCH_GOOD;
        break;
    case EAGAIN:
        place->state = SEARCH_FULL;
        break;
    case ENAMETOOLONG:
        place->state = SEARCH_TOO_LONG;
        break;
    case EACCES:
    case EPERM:
        place->state = SEARCH_FORBIDDEN;
        break;
    default:
        place->state = SEARCH_ABSENT;
    }
}

// The forbidden places, or the others.
struct part {
    const struct search_place *places[SEARCH_MOST];
    size_t count;
};

static struct part part_of(const struct search *search, bool forbidden) {
    struct part part = {.count = 0};
    for (size_t i = 0; i < search->count; i++) {
        if ((search->places[i].state == SEARCH_FORBIDDEN) == forbidden) {
            part.places[part.count++] = &search->places[i];
        }
    }
    return part;
}

// `alone`: what a list of one looks like, "A: why".
static const char *list(const struct part *part, bool alone, char *text, size_t size) {
    size_t len = 0;
    size_t left = part->count;
    alone = alone && left == 1;
    if (size > 0) {
        *text = '\0';
    }
    for (size_t i = 0; i < part->count && len < size; i++) {
        const struct search_place *place = part->places[i];
        const char *joint = --left > 1 ? ", " : left == 1 ? " or " : "";
        int n = snprintf(text + len, size - len, alone ? "%s: %s%s" : "%s (%s)%s", place->path,
                         search_why(place), joint);
        len += n > 0 ? (size_t)n : 0;
    }
    return text;
}

const char *search_list(const struct search *search, char *text, size_t size) {
    struct part all = {.count = search->count};
    for (size_t i = 0; i < search->count; i++) {
        all.places[i] = &search->places[i];
    }
    return list(&all, true, text, size);
}

// What keeps others out of `path`: the nearest of it and its folders that can be looked at.
static bool look_nearest(const char *path, struct stat *status) {
    char at[PATH_MAX];
    snprintf(at, sizeof(at), "%s", path);
    while (stat(at, status) != 0) {
        char *slash = strrchr(at, '/');
        if (errno != EACCES || !slash || slash == at) {
            return false;
        }
        *slash = '\0';
    }
    return true;
}

// Writes who can give access; "" when nobody is known.
static void say_who_may(const char *path, char *text, size_t size) {
    struct stat status;
    *text = '\0';
    if (!look_nearest(path, &status)) {
        return;
    }
    mode_t needed = S_ISDIR(status.st_mode) ? S_IXGRP : S_IWGRP;
    const struct group *group =
        status.st_gid != 0 && (status.st_mode & needed) ? getgrgid(status.st_gid) : NULL;
    const struct passwd *owner = getpwuid(status.st_uid);
    if (group) {
        snprintf(text, size, "ask for the group %s ('adduser YOU %s', then log in again)",
                 group->gr_name, group->gr_name);
    } else if (owner && owner->pw_uid != geteuid()) {
        snprintf(text, size, "only its owner %s may", owner->pw_name);
    }
}

// Somebody else made our folder first: no daemon of ours can be there.
static bool explain_foreign(const struct search *search, char *advice, size_t size) {
    for (size_t i = 0; i < search->count; i++) {
        const struct search_place *place = &search->places[i];
        struct stat status;
        char folder[PATH_MAX];
        snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(place->path, '/') - place->path),
                 place->path);
        if (place->state != SEARCH_FOREIGN || lstat(folder, &status) != 0) {
            continue;
        }
        const struct passwd *owner = getpwuid(status.st_uid);
        if (status.st_uid == geteuid() && S_ISDIR(status.st_mode)) {
            snprintf(advice, size, "others may write in %s: 'chmod 700 %s' makes it yours alone",
                     folder, folder);
        } else {
            snprintf(advice, size,
                     "%s belongs to user %s (uid %u): set XDG_RUNTIME_DIR to a folder of your own, "
                     "for 'nvtxtd &' too, or name a daemon's socket with --socket",
                     folder, owner ? owner->pw_name : "?", (unsigned)status.st_uid);
        }
        return true;
    }
    return false;
}

enum outcome search_explain(const struct search *search, char *text, size_t size, char *advice,
                            size_t advice_size) {
    struct part forbidden = part_of(search, true), others = part_of(search, false);
    char denied[SEARCH_MOST * 512], absent[SEARCH_MOST * 512];
    char whom[256];
    const struct search_place *first = &search->places[0];
    *advice = '\0';
    if (forbidden.count == 0 && search_is_named(search)) {
        snprintf(text, size, "no daemon at %s: %s (%s names it)", first->path, search_why(first),
                 first->whose);
        return OUTCOME_NO_DAEMON;
    }
    if (forbidden.count == 0) {
        snprintf(text, size, "no daemon at %s", list(&others, true, absent, sizeof(absent)));
        if (explain_foreign(search, advice, advice_size)) {
            return OUTCOME_NO_DAEMON;
        }
        snprintf(advice, advice_size,
                 "start one with 'nvtxtd &' or 'systemctl start nvtxtd.socket', or name its socket "
                 "with --socket");
        return OUTCOME_NO_DAEMON;
    }
    bool named = search_is_named(search);
    snprintf(text, size, "you may not use the daemon at %s%s%s%s%s%s",
             list(&forbidden, true, denied, sizeof(denied)), named ? " (" : "",
             named ? first->whose : "", named ? " names it)" : "",
             others.count ? "; there is none at " : "",
             others.count ? list(&others, false, absent, sizeof(absent)) : "");
    say_who_may(forbidden.places[0]->path, whom, sizeof(whom));
    snprintf(advice, advice_size, "%s%s%s", whom, *whom && !named ? ", or " : "",
             named ? "" : "start one of your own with 'nvtxtd &'");
    return OUTCOME_FORBIDDEN;
}
