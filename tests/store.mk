# SPDX-License-Identifier: Apache-2.0
# Tests of store/; see Makefile.am for what a line looks like.
EXTRA_DIST += unit/failing_calls.h unit/follow_kit.h unit/store_kit.h
unit_programs += unit/test_batch
unit_programs += unit/test_bulk
unit_programs += unit/test_intern
unit_programs += unit/test_schema
unit_programs += unit/test_store
unit_programs += unit/test_store_id
unit_programs += unit/test_reader
unit_programs += unit/test_stranger
unit_programs += unit/test_catalog
unit_programs += unit/test_ended
unit_programs += unit/test_events
unit_programs += unit/test_sessions
unit_programs += unit/test_follow
unit_programs += unit/test_follow_place
unit_programs += unit/test_follow_rows
unit_programs += unit/test_follow_segments
unit_programs += unit/test_follow_watch
unit_programs += unit/test_rebuild
unit_programs += unit/test_followed
unit_programs += unit/test_retention
unit_programs += unit/test_segments
plain_programs += plain/thread_checkpointer
plain_programs += plain/thread_writelock
plain_thread_checkpointer_SOURCES = plain/thread_checkpointer.c plain/thread_kit.h
plain_thread_writelock_SOURCES = plain/thread_writelock.c plain/thread_kit.h
