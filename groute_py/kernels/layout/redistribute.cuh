#pragma once

#include "layout/types.cuh"

struct Team {  // the peers of a rank
    u32 me;
    u32 first;  // the first peer's number among all ranks
    u32 count;  // of peers
};
