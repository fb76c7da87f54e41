// SPDX-License-Identifier: Apache-2.0
//
// What a program has named: domains, strings, and the names of things. Handles live as long as the
// process, also in its children, so their texts are private memory that is never freed; a region in
// a file has a copy, for who goes on with it. One lock of the library's own guards all of it; no
// event takes it.
#pragma once

#include "lib/ring/line.h"
#include "lib/ring/more_strings.h"

enum domain_state { DOMAIN_RECORDED, DOMAIN_EXCLUDED, DOMAIN_UNDECIDED };

struct nvtxt_domain {
    uint32_t number;       // 0: events without a domain
    _Atomic uint8_t state; // enum domain_state
};

// The default domain, for calls that name none: undecided until the first one.
extern struct nvtxt_domain catalog_no_domain;

// Takes the memory of the tables, if they have none. Any thread. Returns 0 or -ENOMEM.
int catalog_init(void);

// Says which domains are left out, by name; "default" is the one without. It is asked once for
// each, under no lock. Without a filter nothing is decided.
void catalog_set_filter(bool (*is_excluded)(const char *name));

// Whether events without a domain are left out: asks the filter when that is undecided.
bool catalog_decide(void);

// The lock, for fork: it is held over it, and made anew in a child.
void catalog_lock(void);
void catalog_unlock(void);
void catalog_renew_lock(void);

// All that is known goes into `region`, and from now on what comes. Names count as not sent; those
// of threads stay out when `is_child`. NULL: no region. Returns 0 or -errno. Under the lock.
int catalog_use(struct region *region, bool is_child);

// The domain of a name that is not empty; NULL when there are too many, or no memory. Too many do
// not make an excluded one recorded.
struct nvtxt_domain *catalog_domain(const char *name);

// The string of a text, at most RECORD_TEXT_MAX bytes of it. Beyond the tables it has no number.
// NULL without memory, and beyond MORE_STRINGS_BYTES of those.
struct nvtxt_string *catalog_string(const char *text);

// Names something; `what` and `json` may be NULL. The newest text of (kind, domain, key, what)
// counts. What has no room is as if it was not said.
void catalog_name(enum name_kind kind, uint32_t domain, uint64_t key, const char *what,
                  const char *text, const char *json);

// Names a thread as the system does, where nobody has named it. Names of this kind take half of the
// table at most: a program may have any number of threads.
void catalog_name_thread(uint32_t tid, const char *text);

// Names a counter that nobody has named; what was said of another stays.
void catalog_name_counter(uint32_t domain, const struct nvtxt_string *counter);

// Counts what was named: it changes with each name, so the sender looks only when it did.
uint64_t catalog_version(void);
