// SPDX-License-Identifier: Apache-2.0
//
// Lists of things that know their neighbours by `next` and `prev`. `first` is where the list's
// owner keeps its first thing. Nothing is allocated.
#pragma once

// Puts a thing before all others.
#define LIST_ADD(first, thing)                                                                     \
    do {                                                                                           \
        (thing)->prev = NULL;                                                                      \
        (thing)->next = (first);                                                                   \
        if ((thing)->next) {                                                                       \
            (thing)->next->prev = (thing);                                                         \
        }                                                                                          \
        (first) = (thing);                                                                         \
    } while (0)

// Takes a thing out. Its own `next` and `prev` stay, so that a walk over the list can go on.
#define LIST_REMOVE(first, thing)                                                                  \
    do {                                                                                           \
        if ((thing)->next) {                                                                       \
            (thing)->next->prev = (thing)->prev;                                                   \
        }                                                                                          \
        if ((thing)->prev) {                                                                       \
            (thing)->prev->next = (thing)->next;                                                   \
        } else {                                                                                   \
            (first) = (thing)->next;                                                               \
        }                                                                                          \
    } while (0)

// Lists of things that know only the one after them, by `link`: puts a thing after all others, and
// takes one out that is in the list.
#define LIST_APPEND(first, thing, link)                                                            \
    do {                                                                                           \
        __typeof__(&(first)) at_ = &(first);                                                       \
        while (*at_) {                                                                             \
            at_ = &(*at_)->link;                                                                   \
        }                                                                                          \
        *at_ = (thing);                                                                            \
    } while (0)

#define LIST_UNLINK(first, thing, link)                                                            \
    do {                                                                                           \
        __typeof__(&(first)) at_ = &(first);                                                       \
        while (*at_ != (thing)) {                                                                  \
            at_ = &(*at_)->link;                                                                   \
        }                                                                                          \
        *at_ = (thing)->link;                                                                      \
    } while (0)
