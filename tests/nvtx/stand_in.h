// SPDX-License-Identifier: Apache-2.0
//
// What a program gets from NVTX's headers, for machines that do not have them: the same calls, with
// types of the same layout. Clients of the tests compile with either (client.h). At the first call
// stand_in.c looks for an injection as the headers do, and gives it tables and slots. As with the
// headers, each linkage unit that has it in it is a program of its own to the injection.
//
// The variable STAND_IN makes it an older NVTX: `v1` has only the module of that time and asks for
// InitializeInjectionNvtx, `v2` has short tables, `holes` has no slot for every other call, `small`
// gives a structure that is too small, `other` has extensions whose layouts nobody knows.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

typedef struct stand_in_domain *nvtxDomainHandle_t;
typedef struct stand_in_string *nvtxStringHandle_t;
typedef struct stand_in_resource *nvtxResourceHandle_t;
typedef struct stand_in_sync *nvtxSyncUser_t;
typedef uint64_t nvtxRangeId_t;

enum { NVTX_COLOR_UNKNOWN, NVTX_COLOR_ARGB };
enum {
    NVTX_MESSAGE_UNKNOWN,
    NVTX_MESSAGE_TYPE_ASCII,
    NVTX_MESSAGE_TYPE_UNICODE,
    NVTX_MESSAGE_TYPE_REGISTERED
};
enum {
    NVTX_PAYLOAD_UNKNOWN,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT64,
    NVTX_PAYLOAD_TYPE_INT64,
    NVTX_PAYLOAD_TYPE_DOUBLE,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT32,
    NVTX_PAYLOAD_TYPE_INT32,
    NVTX_PAYLOAD_TYPE_FLOAT
};

typedef union {
    const char *ascii;
    const wchar_t *unicode;
    nvtxStringHandle_t registered;
} nvtxMessageValue_t;

typedef struct {
    uint16_t version, size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType, reserved0;
    union {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
        uint32_t uiValue;
        int32_t iValue;
        float fValue;
    } payload;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxEventAttributes_t;

typedef struct {
    uint16_t version, size;
    int32_t identifierType;
    union {
        const void *pValue;
        uint64_t ullValue;
    } identifier;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxResourceAttributes_t;

typedef struct {
    uint16_t version, size;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxSyncUserAttributes_t;

void nvtxInitialize(const void *reserved);
void nvtxMarkA(const char *message);
void nvtxMarkW(const wchar_t *message);
void nvtxMarkEx(const nvtxEventAttributes_t *event);
nvtxRangeId_t nvtxRangeStartA(const char *message);
nvtxRangeId_t nvtxRangeStartW(const wchar_t *message);
nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t *event);
void nvtxRangeEnd(nvtxRangeId_t id);
int nvtxRangePushA(const char *message);
int nvtxRangePushW(const wchar_t *message);
int nvtxRangePushEx(const nvtxEventAttributes_t *event);
int nvtxRangePop(void);
void nvtxNameCategoryA(uint32_t category, const char *name);
void nvtxNameCategoryW(uint32_t category, const wchar_t *name);
void nvtxNameOsThreadA(uint32_t thread, const char *name);
void nvtxNameOsThreadW(uint32_t thread, const wchar_t *name);

nvtxDomainHandle_t nvtxDomainCreateA(const char *name);
nvtxDomainHandle_t nvtxDomainCreateW(const wchar_t *name);
void nvtxDomainDestroy(nvtxDomainHandle_t domain);
void nvtxDomainMarkEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event);
nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event);
void nvtxDomainRangeEnd(nvtxDomainHandle_t domain, nvtxRangeId_t id);
int nvtxDomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event);
int nvtxDomainRangePop(nvtxDomainHandle_t domain);
void nvtxDomainNameCategoryA(nvtxDomainHandle_t domain, uint32_t category, const char *name);
void nvtxDomainNameCategoryW(nvtxDomainHandle_t domain, uint32_t category, const wchar_t *name);
nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t domain, const char *text);
nvtxStringHandle_t nvtxDomainRegisterStringW(nvtxDomainHandle_t domain, const wchar_t *text);
nvtxResourceHandle_t nvtxDomainResourceCreate(nvtxDomainHandle_t domain,
                                              nvtxResourceAttributes_t *resource);
void nvtxDomainResourceDestroy(nvtxResourceHandle_t resource);

nvtxSyncUser_t nvtxDomainSyncUserCreate(nvtxDomainHandle_t domain,
                                        const nvtxSyncUserAttributes_t *sync);
void nvtxDomainSyncUserDestroy(nvtxSyncUser_t sync);
void nvtxDomainSyncUserAcquireStart(nvtxSyncUser_t sync);
void nvtxDomainSyncUserAcquireFailed(nvtxSyncUser_t sync);
void nvtxDomainSyncUserAcquireSuccess(nvtxSyncUser_t sync);
void nvtxDomainSyncUserReleasing(nvtxSyncUser_t sync);

// Names of CUDA's and OpenCL's things: the slot of a module and callback number, for who casts it.
// The headers have these calls only beside CUDA's own headers. NULL: no injection wants it.
typedef void (*stand_in_function)(void);
stand_in_function stand_in_slot(int module, unsigned callback);

// The slots of a module of the extension, by callback number; NULL: no injection wants it.
stand_in_function stand_in_extension(int module, unsigned callback);
