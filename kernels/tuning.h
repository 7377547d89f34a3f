/*
   Tuning constants of the CUDA backend, measured on an H200 (compute capability 9.0). Plain C, so that the
   host code sees them too.
*/
#ifndef SYNCILU_TUNING_H
#define SYNCILU_TUNING_H

/*
   With fewer rows on a rank -pc_syncilu_backend auto stays on the host: a triangular solve costs a launch and
   a hop for every level, whatever its size. Setup and solve of 7-point grids with CG take as long on one
   thread of the host at 4,100 rows if matrix and vectors are on the device, at 9,500 if they are on the host
   (tests/bench/bench_solvers with "syncilu host,syncilu cuda").
*/
#define SYNCILU_CUDA_MIN_ROWS 8000
/*
   The same of solve jacobi where the matrix is on the device, as coarse levels of multigrid are: a sweep
   costs its launches alone. Two smoothing steps with a sweep in each solve take an H200 and a core, in us
   (entries a row): 4,913 rows (24) 67 and 390, 2,563 (33) 95 and 352, 1,773 (87) 150 and 396, 205 (65) 132
   and 97, 159 (101) 171 and 100 (tests/bench/bench_multigrid).
*/
#define SYNCILU_CUDA_MIN_ROWS_JACOBI 500

/* Threads of a block. */
#define SYNCILU_BLOCK_LEVELS 512
#define SYNCILU_BLOCK_SOLVE  128
#define SYNCILU_BLOCK_FACTOR 128
#define SYNCILU_BLOCK        256
/*
   Of a solve by level sets: as many warps as a level of a chain has slices at most. On an H200 and 18 matrices
   of 10 to 540 rows a level 128 threads take 1.02 times as long, 512 threads 0.96, transposed 1.00.
*/
#define SYNCILU_BLOCK_LEVELSET 256

/* Blocks of kernels that go through all rows and end in a few common counters. */
#define SYNCILU_BLOCKS_COUNTING 1024

/*
   Entries of a row from which on a warp looks through it, not some lanes; and a block. On an H200 a look through
   power-law rows takes 0.65 of the time that it takes without warps.
*/
#define SYNCILU_ROW_WIDE 64
#define SYNCILU_ROW_LONG 1024

/*
   Entries of a row of L from which on more than a few lanes look for its updates, which is a search or more
   for each entry.
*/
#define SYNCILU_SCAN_LONG 256

/*
   Entries of a row that a lane polls at the same time in a triangular solve, and updates that a lane polls at
   the same time in the factorization: from lists, and there where a row has a warp; where they have to be
   searched; and where a table says where they are. On an H200 lists take with 4 updates instead of 8, where a
   row has a warp, 0.8 of the time (random, 200 entries a row; elasticity on a grid), else up to 1.8 times as
   long; a table with 2 instead of 4 takes 0.85 to 0.9 of it where levels are wide (27-point, elasticity on a
   grid), and the same where they are narrow.
*/
#define SYNCILU_POLLS             4
#define SYNCILU_UPDATE_POLLS      8
#define SYNCILU_UPDATE_POLLS_WARP 4
#define SYNCILU_SEARCH_POLLS      4
#define SYNCILU_TABLE_POLLS       2

/*
   Columns left of a row from which on compare() skips what the other row has passed, instead of going on by 32
   columns. Not measured finely.
*/
#define SYNCILU_SKIP 256

/*
   Entries that two rows have together up to which vect compares them instead of searching: Freire, Dufrechou,
   Ezzatti, PDP 2025, section IV-B.
*/
#define SYNCILU_COMPARE_ENTRIES 128

/*
   Lanes of a vector of update strategy parallel: those with which M. Freire's thesis (Universidad de la
   Republica, 2025), section 5.2.4, compares it with the other strategies.
*/
#define SYNCILU_PARALLEL_LANES 2

/*
   Reference rows up to which a block works on a row of parallel together. A dense last row of 100,003 entries
   took more than 25 s in that way on an H200, where vect takes 2 s for the whole test of that matrix.
*/
#define SYNCILU_PARALLEL_MOST 512

/*
   Rows of a level in the mean from which on updates are not looked for while others are waited for, unless
   the user says so. Time of a refactorization by adapt with prefetch over that without, on an H200: 0.38 at
   33 rows a level (quadtree), 0.37 at 211 (triangles), 0.45 at 779 (7-point, Morton), 0.78 at 1960 (power
   law, vect), but 1.22 at 2133 (15-point, random order), 1.16 at 6144, 1.5 at 8700. M. Freire's thesis
   (Universidad de la Republica, 2025), section 5.2.3, has 10 on an RTX 3090 Ti.
*/
#define SYNCILU_PREFETCH_ROWS 1500

/*
   Auto searches for updates ahead, with a warp a row, instead of writing lists, where the rows of a level
   have fewer rounds to search in than this in the mean (see PlanRounds()), times how much longer than the
   mean the longest row of L is, up to SYNCILU_NARROW_UNEVEN; the second number where rows have so many
   entries that all lanes have something to do, and not so many that few are found. Time of a
   refactorization by list over that by adapt, on an H200: 1.2 to 5.7 on fourteen matrices of 68 to 732
   rounds (finite elements as meshed and in RCM order, triangles, quadtree), 0.92 at 1,001 (darcy), 0.65 at
   2,782 (15-point, RCM), 0.58 at 3,636 (15-point); with 24 to 100 entries a row 1.04 at 4,097 (blocks),
   1.2 at 6,550 and 0.93 at 11,600 (27-point), 0.71 at 17,756 (elasticity on a grid, whose lists take 4.5
   times the memory of the matrix, which auto does not); with 196 entries 0.42 at 5,315. Where rows of L
   have up to 5.0 and 3.0 times the mean (meshes with two unknowns a point, some couplings of which are
   missing) it is 2.1 at 3,581 and 1.7 at 1,811. Where there are long rows (SYNCILU_LIST_MEANS) lists are taken in
   any case, with a warp for each other row below SYNCILU_NARROW_ROUNDS: with such a warp, and 64 rounds a level,
   rows with hubs take 0.17 of the time by list, and a circuit (memplus, 306) 0.45, with 4 lanes 0.9, by latest levels
   0.37; with a full last row a 7-point grid takes 0.004 of it.
*/
#define SYNCILU_NARROW_ROUNDS      900
#define SYNCILU_NARROW_ROUNDS_WIDE 20000
#define SYNCILU_NARROW_UNEVEN      5.0
#define SYNCILU_NARROW_LEAST       24
#define SYNCILU_NARROW_MOST        100

/*
   Rows of a level in the mean up to which the reference rows of a row come in the order of their levels. On
   an H200 a refactorization takes 0.97 of the time so in the geometric mean of 23 matrices, 0.85 to 1.0 on
   narrow ones.
*/
#define SYNCILU_TURN_ROWS 1500

/*
   Logarithm of the lanes a row from which on the analysis of lists looks for updates with tables, and places
   of a table for each entry. With a table a refactorization by adapt with a warp a row takes on an H200 0.4
   to 0.6 of the time (elasticity on a grid, blocks, 27-point), 0.66 to 0.9 on narrow matrices of 24 and more
   entries a row, 1.0 on others; with 8 lanes a row, 1.0 to 1.2. Two places for each entry take 1.02 times as
   long as four.
*/
#define SYNCILU_TABLE_LANES 3
#define SYNCILU_TABLE_ROOM  4

/*
   The analysis of lists asks a filter first from so many entries of the longest row on; the logarithm of the
   filter's bits for each place of the table, and of the places that it would have where it stands alone; and how
   much longer than what is left of the current row a reference row may be that is then gone through. On an H200
   rounds are counted in 0.82 of the time so for rows of 200 entries at random, whose table has half the places;
   where a filter stands alone (power law) it saves a few per cent.
*/
#define SYNCILU_TABLE_FILTER       96
#define SYNCILU_TABLE_FILTER_BITS  5
#define SYNCILU_TABLE_FILTER_ALONE 7
#define SYNCILU_TABLE_FILTER_RATIO 4

/*
   Rows of a level in the mean from which on auto takes those of unsymmetric patterns by their latest level. On
   an H200 a solve then takes 0.76 of the time at 18,000 rows a level (power law, its analysis 1.13), 0.90 at
   40,000 (random, 1.00); at 212 rows a level (random, 200 entries a row) 0.90, its analysis 2.5 times.
*/
#if !defined(SYNCILU_LATE_ROWS)
  #define SYNCILU_LATE_ROWS 10000
#endif

/*
   Rows of a matrix with long rows from which on its latest levels are looked for first, in levels of that size. On an
   H200 the earliest ones of a million power-law rows take 3 ms, the latest ones 1.6 with them or without.
*/
#define SYNCILU_LATE_LEAST 25.0

/*
   Entries of a row of L or U from which on a warp, not a lane, goes through it where latest levels are looked for:
   so many times the mean, but at least so many, and at most SYNCILU_LEVEL_LONG. On an H200 the latest levels of
   power-law rows take 0.66 of the time so.
*/
#define SYNCILU_LATE_MEANS 3.0
#define SYNCILU_LATE_LONG  24

/*
   Rows of a level in the mean up to which slices of a triangular solve end with levels, unless they then have
   more entries with their padding than so many times those without; and the part of the rows that may have
   more entries than their lanes poll at once, which take a whole warp. On an H200 such slices take 0.5 of the
   time of others on fourteen finite-element matrices of 10 to 323 rows a level, 0.6 at 33 (quadtree), 0.86 at
   211 (triangles), 0.69 at 542 (15-point), 0.90 at 779 (7-point, Morton), 0.75 at 2,100 (15-point, random
   order); 1.07 at 21,000 (the same) and 1.4 at 18,000 (power law). With 0.01 instead of 0.05 one matrix takes
   0.94 of the time, another 1.1; with 0.2 five take 1.3 to 2.7.
*/
#define SYNCILU_BY_LEVEL_ROWS    4000
#define SYNCILU_BY_LEVEL_PADDING 2.25
#define SYNCILU_BY_LEVEL_LONG    0.05

/*
   Warps that may poll for values of the levels before theirs, as far as the throttle is between
   SYNCILU_THROTTLE_LEVELS and so many levels ahead. 256 to 1,024 warps are alike; without this limit 15-point
   grids in random order take 1.35 times as long. 4 levels ahead take 1.05 to 1.2 times as long on the
   narrowest.
*/
#define SYNCILU_BY_LEVEL_POLLING  512
#define SYNCILU_BY_LEVEL_THROTTLE 12

/* Mean entries of a row of L or U for each of its lanes in a triangular solve. */
#define SYNCILU_LANE_ENTRIES 3.3

/*
   Strategies bsr: mean entries of a row from which on auto takes them where inodes have several rows, and from
   which on it does in the solve where they have not; the most that a row may have, since no other warp helps
   with an inode; mean entries of a row of L or U for each of the lanes of an inode in a triangular solve; warps
   of a level up to which an inode waits for the inodes of the latest levels last; and those beyond which an inode
   has half as many lanes, so that twice as many inodes are at work. On an H200 they take
   0.44 to 0.97 of the time of the best other factorization on fourteen matrices of 13.8 to 77 entries a row and
   0.34 to 0.81 of that of the best other solve, but with 10 (2 unknowns, 5-point) 1.23 and 1.27, with 9 (3
   unknowns of a chain) 0.87 and 1.11; without inodes 0.86 and 0.81 in the solve with 200 and 73 entries at random.
   To wait so takes 0.67 of the time with 195 to 233 warps (elasticity, blocks), 1.5 times as
   long with 1,255 (elasticity, rows in random order). Half as many lanes take 0.73, 0.68 and 0.64 of the time with
   16,000, 2,400 and 560 warps (15 points, 4 unknowns in random order, 3 along a curve; elasticity in RCM order),
   0.72 with 670, 0.87 with 285, 1.0 with 655 and 170, 1.0 to 1.2 with 150 and less. The throttle of three levels
   that other strategies have would take 0.94 (elasticity on tetrahedra) to 1.09 of the time. To wait for the
   latest levels last up to 450 warps alone would take 0.93 (8 unknowns, 44^3) to 1.15 (3 in random order, 34^3).
*/
#define SYNCILU_BSR_ENTRIES 12.0
#define SYNCILU_BSR_ROW     70.0
#define SYNCILU_BSR_LONGEST 1024
#define SYNCILU_BSR_COLUMNS 2.0
#define SYNCILU_BSR_LATE    1000
#define SYNCILU_BSR_WIDE    250.0

/*
   Inodes of a level up to which two warps factor one, where its rows have more entries right of the diagonal
   and on it than a warp has lanes, and where it does not go straight to the tiles of the solves, or has three
   rows. On an H100 two take 0.83 and 0.92 of the time of one with 8 rows along a curve (15 points, 22^3) and
   with 3 (elasticity, 31^3); in place of one that stores tiles 1.10 with 27 points, 4 unknowns and 295 inodes
   a level, 1.06 with 8 and 124, 1.07 with 13 points, 8 unknowns and 221.
*/
#if !defined(SYNCILU_BSR_TEAM_ROWS) /* tests have few */
  #define SYNCILU_BSR_TEAM_ROWS 300
#endif

/*
   Along the lines of a grid: inodes of a level in the mean from which on inodes of four or five rows, and
   those of six, are factored by the stencil with a warp each (factor_bsr_grid.cu), unless rows have a lane
   each (below). With more rows they always are. Otherwise they are factored from lists, which need more
   memory, or, with 5 and 7 points, by inverses (factor_bsr_diagonal.cu). On an H200 the stencil takes, of the
   time of those:

     grid                  4      5      6      8
     7 points, 10^3       0.98   0.95   0.87   0.87
     7 points, 28^3       1.11   1.10   0.94   0.81
     7 points, 48^3                            0.66
     star of 13, 28^3     1.17   1.17   1.10   0.89
     star of 13, 48^3                          0.71
     diamond of 13, 28^3  1.30   1.15   1.11   0.93
     diamond of 13, 56^3                       0.74
     27 points, 10^3      1.01   0.98   1.00   1.02
     27 points, 28^3      1.11   1.11   1.02   0.87
     27 points, 48^3                    0.90
     27 points, 64^3                    0.85   0.76 (60^3)
     9 points, 300^2      1.47   1.16          0.93
*/
#if !defined(SYNCILU_BSR_GRID_ROWS)       /* tests have few */
  #define SYNCILU_BSR_GRID_ROWS     840.0 /* not more than lanes need: where these have no room, it is used */
  #define SYNCILU_BSR_GRID_ROWS_SIX 300.0
#endif

/*
   Bytes of the blocks of U of a level, in the mean of all levels, up to which the second-level cache keeps
   them until the next level reads them (bsr_grid_diagonal_kernel). If there are more, inodes are taken in
   slabs of the grid. 7 points with 8 unknowns on an H200: planes of a slab, MB of a level, ms.

     160^3   160: 13.2, 9.62   80: 7.9, 9.40   54: 5.6, 9.43   40: 4.4, 9.73   27: 3.1, 10.9
     128^3   128:  8.4, 4.93   64: 5.1, 4.92   43: 3.6, 5.26

   7 points with 5 to 7 unknowns, 160^3, in slabs of 80 planes: 0.99 to 1.00 of the time. Where other blocks
   have updates too there is no rule to it: 27 points with 4 unknowns, 128^3, in slabs of 43 planes 0.97 of
   the time, with 8, 83^3, 42 planes 0.98, with 5, 102^3, 42 planes 1.01, star of 13 with 6 and 7, 128^3, 64
   planes 1.00.
*/
#if !defined(SYNCILU_BSR_GRID_SLAB) /* tests have less */
  #define SYNCILU_BSR_GRID_SLAB 10e6
#endif

/*
   Warps of a level in the mean from which on each unknown has a lane (factor_bsr_wide.cu); and the same where
   only diagonal blocks have updates, for which the other kernels need less. On an H200, with that kernel and
   without, in ms: 27 points with 2 unknowns, 100^3, 90 warps a level, 3.8 and 3.7; star of 13 with 2, 100^3,
   210 warps, 1.67 and 1.63; diamond of 25 with 2, 160^3, 267 warps, 7.8 and 14.9; 7 points with 2, 100^3, 210
   warps, 1.9 and 1.1, with 4, 80^3, 269 warps, 1.40 and 1.29, with 6, 80^3, 538 warps, 1.7 and 2.1.

   Where a block of threads has room for one warp only, factor_bsr_grid.cu is faster. In ms, with
   factor_bsr_wide.cu and with that: a diamond of 25 with 4 unknowns, 128^3, 15.0 and 14.1, 27 points with 5,
   102^3, 22.1 and 17.2, a diamond of 13 with 6, 128^3, 12.8 and 11.9, a star of 13 with 7, 115^3, 10.4 and 9.6.
*/
#if !defined(SYNCILU_BSR_WIDE_WARPS) /* tests have few */
  #define SYNCILU_BSR_WIDE_WARPS          210.0
  #define SYNCILU_BSR_WIDE_WARPS_DIAGONAL 330.0
#endif

/*
   Factorization from lists: updates by each reference inode in the mean up to which inodes of two rows have
   eight lanes each, and beyond which a step has four updates (factor_bsr_tiles.cu); and inodes of a level
   from which on they have eight lanes. With 13 points of a star, two updates each, they take on an H100
   1.60, 1.12 and 0.83 of the time of a warp each with 440, 1,134 and 2,966 inodes a level; with 27 points,
   7.5 updates, and 750 inodes 2.4 times as long. A stencil of 9 points makes 3 updates, fewer at the boundary,
   and counts as many.
*/
#define SYNCILU_BSR_LIST_FEW 2.8

/*
   Factorization by the stencil: updates by each reference point beyond which a step of factor_bsr_grid.cu has
   4 of them, with more than six rows; beyond MANY it has 8, or 4 with six rows.
*/
#define SYNCILU_BSR_FEW  3.0
#define SYNCILU_BSR_MANY 5.0
#if !defined(SYNCILU_BSR_FEW_ROWS) /* tests have few */
  #define SYNCILU_BSR_FEW_ROWS 2000
#endif

/*
   Inodes of a level beyond which factor_bsr_tiles.cu has less in registers and more warps. Not with eight rows
   where reference inodes make few updates.
*/
#if !defined(SYNCILU_BSR_TILES_ROWS) /* tests have few */
  #define SYNCILU_BSR_TILES_ROWS 1700
#endif

/*
   Rows of a tile from which on tiles are worth it, and the mean length that chains of successive rows must
   have where there is no grid.
*/
#define SYNCILU_TILE_ROWS  4
#define SYNCILU_BLOCK_ROWS 8 /* most rows of a point that make a tile */
#define SYNCILU_TILE_CHAIN 1024

/*
   Rows that may be left out of tiles for each of several reasons, and the classes of their length: from
   SYNCILU_POLLS on, each of twice the length. Of rows with more than SYNCILU_LIST_MOST entries a cluster may have so
   many: with 38 of them it takes 1.16 times as long as ell (a circuit, memplus).
*/
#define SYNCILU_OUTLIERS     32
#define SYNCILU_TILE_CLASSES 5

/* Rows whose neighbours say which grid there may be. */
#define SYNCILU_GRID_SAMPLE 512

/*
   Entries that a triangle in sliced ELL may have with its padding, in those that it has without, and so many
   more; else rows of a fraction of the usual limit get a warp of their own, and rows of a level are sorted by
   width.
*/
#define SYNCILU_PADDING       2
#define SYNCILU_PADDING_FREE  4096
#define SYNCILU_PADDING_LIMIT 4

/* Entries that a triangle in tiles may have with its padding, in those that it has without. */
#define SYNCILU_TILE_PADDING 2.5

/* Nanoseconds from level to level through memory, and from row to row within a tile. */
#define SYNCILU_HOP  700
#define SYNCILU_STEP 20

/*
   Nanoseconds from level to level where slices end with levels, in a cluster, and of inodes; the levels of L and U
   together that a block multicolor ordering has about (README.md has them for eleven meshes); bytes a second
   that a solve moves; how many times the time of that ordering the present one must take for the view to name
   it; and the mean entries of a row up to which it does.
*/
#define SYNCILU_HOP_BY_LEVEL   450
#define SYNCILU_HOP_CLUSTER    170
#define SYNCILU_HOP_INODES     590
#define SYNCILU_BMC_LEVELS     200
#define SYNCILU_BANDWIDTH      3e12
#define SYNCILU_ADVISE         4
#define SYNCILU_ADVISE_ENTRIES 64

/*
   Nanoseconds that a core of the host takes for an entry of the factor in an application
   (tests/bench/bench_host), and how many times longer a GPU must take for auto to leave the matrix to the
   host: there, vectors would have to be copied.
*/
#define SYNCILU_HOST_ENTRY  1.7
#define SYNCILU_HOST_FACTOR 4.0

/* Mean entries of a row of the factor for each of its lanes in the factorization with lists. */
#define SYNCILU_LIST_ENTRIES 3.5

/*
   Most entries of a row whose updates are in lists: so many times the mean of the matrix, but no fewer and no more
   than this, since lists count them in a byte. Of longer rows warps take so many entries each (a lane one), and
   so many of U' to divide by the pivot; a lane has at most so many updates to itself. A row leaves no more numbers
   of its tasks than one for so many of its entries, which holds if it has more than SYNCILU_LIST_LEAST. On an H200 rows with
   hubs of 61 entries, 12 times the mean, take 0.2 of the time so, power-law rows 0.85; a circuit (memplus) takes
   0.72, 0.74, 0.69 and 1.36 ms with 8, 12, 24 and 36 times the mean.
*/
#define SYNCILU_LIST_MEANS   8.0
#define SYNCILU_LIST_LEAST   47
#define SYNCILU_LIST_MOST    255
#define SYNCILU_LONG_ENTRIES 32
#define SYNCILU_LONG_TASKS   8
#define SYNCILU_LONG_SCALED  256
#define SYNCILU_LONG_UPDATES 64
#define SYNCILU_LONG_ROOM    16

/*
   Part of the entries that may be in rows of more than SYNCILU_LIST_MOST where auto takes lists, unless most rows
   are much shorter: each value of such a row goes through memory, while others stay in a warp's own.
*/
#define SYNCILU_LONG_SHARE 0.5

/*
   Along the lines of a grid, in nanoseconds: a step of a tile, and the way from a tile to the next one; both where
   rows depend on their nearest neighbours alone; and the pause of a warp that polls for a tile that has not begun.
   On an H200, when all values went through device memory, a step took 60 ns on 1000 x 32 points (5-point), and
   64^3 points (7-point) took 34 us, with 22 tiles on the longest way. With clusters a step takes 36 ns (5-point,
   3200 x 32 points) or 49 ns (7-point, 3200 x 8 x 4). One tile more takes 0.22 us beside its steps (5-point, 32 x
   2048) or 0.29 us (7-point, 32 x 1024 x 4); 0.35 us is from before tiles awaited values one step later.
*/
#define SYNCILU_STRUCT_STEP      60.0
#define SYNCILU_STRUCT_HOP       900.0
#define SYNCILU_STRUCT_NEAR_STEP 43.0
#define SYNCILU_STRUCT_NEAR_HOP  350.0
#define SYNCILU_STRUCT_PAUSE     40

/*
   Chunks of steps whose values from other tiles are on their way at a time, along lines of a grid of three
   directions; the way takes longer than a chunk. And bytes of shared memory that blocks leave to a
   multiprocessor's cache. On an H200, L + U of 7 points, all of them through memory: 160^3 0.332 ms with one
   chunk, 0.285 with three; 512^3 6.05 and 5.57. Where rows have up to 13 entries their own values take the room:
   27 points, 336^3 4.21 with one chunk, 3.34 with two, 3.30 with three; 80^3 0.345, 0.327 and 0.389.
*/
#define SYNCILU_STRUCT_FETCH      3
#define SYNCILU_STRUCT_FETCH_MOST 2
#define SYNCILU_STRUCT_CACHE      (56 << 10)

/*
   Points with several unknowns: nanoseconds from step to step of a tile, and more of them for each unknown,
   where entries are of the step before alone (up to so many), and where some reach back further; and
   nanoseconds from level to level by inodes, of few unknowns and of many, from how many on. On an H200 a step
   takes 0.28 us with 2 unknowns and 7 points, 0.43 with 5, 0.42 with 2 and 25 or 27, 0.43 with 3, 0.51 with
   4; by inodes a level takes 0.73 with 3 and 27, 0.98 with 2 and 27, 1.06 with 4, 1.25 with 5 and 7.
*/
#define SYNCILU_STRUCT_BLOCKS_NEAR        3
#define SYNCILU_STRUCT_BLOCKS_STEP        170.0
#define SYNCILU_STRUCT_BLOCKS_UNKNOWN     52.0
#define SYNCILU_STRUCT_BLOCKS_STEP_FAR    310.0
#define SYNCILU_STRUCT_BLOCKS_UNKNOWN_FAR 50.0
#define SYNCILU_STRUCT_BLOCKS_FEW         740.0
#define SYNCILU_STRUCT_BLOCKS_MANY        1250.0
#define SYNCILU_STRUCT_BLOCKS_FROM        5

/* Warps of a block that factors along lines, each of which has two. */
#define SYNCILU_STRUCT_FACTOR_WARPS 8

/*
   Entries of a stencil from which on auto factors along lines. On an H200 that took 0.45 of the time of lists
   on a 27-point grid of 80^3, 0.53 on one of 110^3, 0.85 with 25 points (80^3), 0.90 with 15 (90^3), 0.66
   with 9 (1000^2), 0.68 on triangles (632^2, as long as searches ahead).
*/
#define SYNCILU_STRUCT_FACTOR_ENTRIES 9

/* How many times shorter the way along lines must be whose rows are not neighbours in memory. */
#define SYNCILU_STRUCT_AXIS 1.4

/*
   Lanes that tiles of lines may have for each row: others have none, and take memory. For auto, holes count too:
   numbers that tiles have for each entry. On an H200 triangles row by row, with 25 % holes, take 0.39 to 0.46 of the
   time of the other strategies.
*/
#define SYNCILU_STRUCT_PADDING 2.0

/*
   Right-hand sides that a lane solves for together, most in one launch, and those side by side in x where it is
   read by whole lines, which may also be half as many.
*/
#define SYNCILU_RHS_BLOCK 4
#define SYNCILU_RHS_MAX   32
#define SYNCILU_RHS_LINE  16

/*
   Rows of a level in the mean from which on, and bytes of all solutions beyond which, a launch solves for no more
   right-hand sides than a lane does. On an H200 16 of them take 0.79 of the time so at 20,800 and 40,000 rows a level
   (15-point in random order, random), 0.84 at 18,200 (power law).
*/
#define SYNCILU_RHS_ROWS  10000
#define SYNCILU_RHS_CACHE 32e6

/*
   Entries a lane takes of a row with more than SYNCILU_LONG_ROW times the usual: such rows get a warp of
   their own.
*/
#define SYNCILU_LONG_ROW 8

/*
   Entries of each of its 32 lanes that a warp takes of a row which it shares with others: rows of more than
   two such parts are shared.
*/
#define SYNCILU_PART 32

/*
   Entries of a lane of a slice from which on several blocks share it where storage is filled, and the most of
   these blocks.
*/
#define SYNCILU_PART_WIDE   256
#define SYNCILU_PART_BLOCKS 64

/*
   Rows of a level are sorted by width, in so many bits, where rows differ by more than this from the mean and
   levels have so many of them that more slices at their ends do not matter.
*/
#define SYNCILU_WIDTH_BITS 4
#define SYNCILU_WIDTH_MEAN 1.5
#define SYNCILU_WIDTH_ROWS 2048

/*
   Shared memory of a block of the factorization for the rows at work: what a block gets without asking for
   more, less what it needs besides.
*/
#define SYNCILU_SHARED_BYTES 48128

/*
   Along the lines of a grid: rows of a level in the mean from which on a row has a lane
   (factor_struct_wide.cu), and not a warp. On an H200 a star of 13 points takes 0.95 times as long so with
   7,700 rows a level, 0.4 times with 22,500 and 0.33 times with 63,000; 27 points 0.87 times with 5,700 and
   0.5 times with 15,800; a diamond of 13 points 1.2 times with 6,700 and 0.8 times with 11,300.
*/
#if !defined(SYNCILU_STRUCT_WIDE) /* tests have few */
  #define SYNCILU_STRUCT_WIDE 10000
#endif

/*
   Bytes of device memory that are kept for the next analysis when one ends: to map memory takes longer than
   many analyses.
*/
#define SYNCILU_KEEP (64 << 20)

/*
   Rows, or items of a scan, that one block takes alone in place of several launches of many
   (kernels/one_block.cuh).
*/
#if !defined(SYNCILU_ONE_BLOCK_ROWS)
  #define SYNCILU_ONE_BLOCK_ROWS 65536
#endif

/*
   Bytes of the room that an analysis takes for its small temporaries, of which so many at least fit it: an
   allocation takes about as long as a launch. Pieces begin at multiples of the last one, as those of the
   runtime.
*/
#if !defined(SYNCILU_ROOM)
  #define SYNCILU_ROOM (8 << 20)
#endif
#define SYNCILU_ROOM_PIECES 16
#define SYNCILU_ROOM_ALIGN  256

/*
   What plan and factor may hold with the default strategies, in multiples of the bytes of the matrix in CSR;
   and the bytes that lists of updates may take beyond that, which matter where the matrix is small. With the
   factorization by the blocks of the ordering bmc they may hold a little more, as a level of fill on tetrahedra
   takes 3.1 times as much with it: a refactorization of 300,000 rows then takes 0.61 ms on an H100, and 1.27
   where updates are searched for.
*/
#define SYNCILU_MEMORY        3.0
#define SYNCILU_MEMORY_BLOCKS 3.25
#define SYNCILU_MEMORY_LISTS  16e6

/*
   Entries of a row of L or U from which on the analysis of levels takes a warp for it instead of a lane;
   and mean entries of a row of both from which on, where some are that long, all rows have one. Between
   the two a warp would go through many rows one after the other: on an H200 the levels of tetrahedra with
   two levels of fill (72 entries in the mean) then take 24 ms, those of elasticity with two (190), where
   each row has a warp, 0.9.
*/
#define SYNCILU_LEVEL_LONG 96
#define SYNCILU_LEVEL_MEAN 32

/*
   Most entries of a row of L for which D-ILU has four lanes a row (the logarithm follows), else 32. On an H200 a
   refactorization takes 2.21 ms with two lanes, 2.20 with four and 2.46 with eight on 3,048,625 rows of
   tetrahedra, 0.38, 0.44 and 0.61 on 810,000 of triangles, and 0.35, 0.29 and 0.31 on 300,763 of tetrahedra.
*/
#define SYNCILU_DILU_SHORT 256
#define SYNCILU_DILU_LANES 2

/*
   Most entries of a row of a matrix that is put into another order row by row, each column compared with all others
   of its row; with longer rows all entries are sorted together.
*/
#define SYNCILU_ORDER_SHORT 256

/*
   Blocks of the ordering bmc in a triangular solve: the most entries of a row of L or U; how many of them, in
   other blocks, a lane goes through alone, while those that few rows of a block have beyond that are shared by
   its warp; and the mean entries of a row from which on a lane waits for eight at a time instead of four:
   triangles take 0.75 of the time with four, tetrahedra and elasticity 0.96 and 0.85 with eight. On an H200 an
   application takes by blocks instead of by level 0.37 of the time (triangles, 7 entries a row of both), 0.17
   and 0.23 (the same with one and two levels of fill, 11 and 16), 0.41, 0.29 and 0.27 (tetrahedra, 14, 34 and
   72), 0.26 and 0.28 (elasticity, 39, and with one level, 93).
*/
#define SYNCILU_BLOCKS_LONGEST 4096
#define SYNCILU_BLOCKS_ALONE   64
#define SYNCILU_BLOCKS_MEAN    5.0

/*
   Numbers of x in other blocks that the rows of a block need are collected in shared memory first, each once,
   where there are so many rows that bytes bound the solve, and no block needs more of them or has more
   entries for them. On an H200 a solve takes 0.85 of the time then on 3,000,000 rows of tetrahedra, but 1.07
   on 300,000 of them and on 800,000 of triangles, 1.8 on elasticity of 200,000 rows, 2.4 on tetrahedra with a
   level of fill: what a row waits for last is behind the waiting for all of the block. With so many thread
   blocks on a multiprocessor, and four entries of a row at a time, 3,000,000 rows take 0.80 of the time of
   seven and eight, with which the others were measured.

   With Eisenstat's trick entries are copied to shared memory meanwhile, if no block has more of them: an
   iteration of CG on 3,000,000 rows takes 0.508 ms then instead of 0.553, with 9 thread blocks 0.511, with 12
   0.529 (one run on an H200, a round each). Whether it pays for vectors in the matrix' numbering too, where
   it is not done, is not measured.
*/
#define SYNCILU_BLOCKS_RESIDENT        9
#define SYNCILU_BLOCKS_RESIDENT_COPIED 10
#if !defined(SYNCILU_BLOCKS_COLLECTED)
  #define SYNCILU_BLOCKS_COLLECTED 2000000
#endif
#define SYNCILU_BLOCKS_NEEDS   256
#define SYNCILU_BLOCKS_OUTER   2048
#define SYNCILU_BLOCKS_ENTRIES 640

/*
   More than SYNCILU_RHS_BLOCK right-hand sides by whole lines of x: thread blocks on a multiprocessor; and inner
   entries of a block at most, each row filled up to fours, with which it fits the shared memory that a launch
   gets without asking. On an H100 16 right-hand sides take 0.55 of the time of before, four a lane, on 300,000
   rows of tetrahedra, 0.58 on 800,000 of triangles, 0.60 on 3,000,000 of tetrahedra, 0.84 on elasticity of
   192,000; 8 take 0.82 and 0.74 on the first two, but 1.12 on elasticity, 12 there 1.06. Six thread blocks
   instead of five take 1.05 to 1.11 times as long, twice as many loads in flight 1.05 to 1.07. Four right-hand
   sides by lines would take 1.08 to 1.18.
*/
#define SYNCILU_BLOCKS_RESIDENT_LINES 5
#define SYNCILU_BLOCKS_INNER          544

/*
   Where x is larger than so many bytes, the cache, a block gathers the lines that it needs, at most so many at a
   time. Then come the bytes of shared memory of a multiprocessor, and the most warps that it may have, lest they
   get too few registers for four lines at a time: a block has two warps where it cannot have more blocks. On an
   H200 16 right-hand sides take 1.26 ms on 3,048,625 rows of tetrahedra, 1.36 with all lines of a block at once
   (116 at most, 42 in the mean), 1.28 and 1.26 with 40 and 80 at a time, 1.31 with one warp a block; 0.221 on
   810,000 rows of triangles, 0.256 with two warps a block. Where x fits the cache gathering gains nothing: on an
   H100 0.199 instead of 0.198 on 300,763 rows of tetrahedra, and 0.50 instead of 0.32 on elasticity of 206,763.
*/
#if !defined(SYNCILU_GATHERED_CACHE)
  #define SYNCILU_GATHERED_CACHE 50e6
#endif
#if !defined(SYNCILU_GATHERED_LINES)
  #define SYNCILU_GATHERED_LINES 56
#endif
#if !defined(SYNCILU_GATHERED_MULTIPROCESSOR)
  #define SYNCILU_GATHERED_MULTIPROCESSOR (228 << 10)
#endif
#define SYNCILU_GATHERED_RESIDENT 24

/*
   Jacobi sweeps: entries of a lane that are loaded at the same time; and how many more entries than all others
   of its block a row has, from which on the whole warp goes through these.
*/
#define SYNCILU_JACOBI_AT_ONCE 4
#define SYNCILU_JACOBI_LONE    64

/*
   Factorization by blocks: what a block may need of other blocks, places of the table of that, which must be
   more by what a block of threads adds at a time, first and for blocks that need more, and the rounds and the
   number of its updates. The plan has room in shared memory for so much. Beyond so many updates of a block
   its rows have eight lanes each while they are dealt to rounds, else four.
*/
#define SYNCILU_BLOCK_OUTSIDE 3552
#define SYNCILU_BLOCK_TABLE   4096
#if !defined(SYNCILU_BLOCK_TABLE_USUAL)
  #define SYNCILU_BLOCK_TABLE_USUAL 1024
#endif
#define SYNCILU_BLOCK_FEW     512
#define SYNCILU_BLOCK_ROUNDS  1024
#define SYNCILU_BLOCK_UPDATES 65535

/*
   Bytes of shared memory of a block beyond which rows by level are faster; entries of a row in the mean from
   which on updates take several of them together; and warps that a multiprocessor had better have, where its
   shared memory, of which so much can be counted on, has room for few blocks or a color has few of them for
   each. On an H200, with one, two, four and eight warps a block a refactorization takes, in us: 97, 155, 235
   and 485 on 800,000 rows of triangles; 93, 90, 112 and 214 on 250,000 with a level of fill; 930, 817, 1080 and 2110 on
   3,000,000 rows of tetrahedra; 740, 450, 420 and 364 on elasticity of 200,000 rows; 191, 155, 157 and 264, a
   little later, on 300,000 of tetrahedra, and 2080, 1180, 890 and 730 on these with a level of fill.
*/
#define SYNCILU_BLOCK_RUNS 24
#if !defined(SYNCILU_BLOCK_ROOM)
  #define SYNCILU_BLOCK_ROOM 75000
#endif
#if !defined(SYNCILU_BLOCK_WARPS)
  #define SYNCILU_BLOCK_WARPS           23
  #define SYNCILU_MULTIPROCESSORS       132
  #define SYNCILU_SHARED_MULTIPROCESSOR 199000
#endif

/*
   Fill: the logarithm of the places in the table of a warp, which may meet three quarters as many rows on its
   way, and half as many before its own; of those in the tables in memory for rows that meet more; and bytes of
   such tables. With more levels than that the host looks for fill: each row is searched for on its own, again
   and again through the same rows before it.
*/
#define SYNCILU_FILL_LEVELS 32
#if !defined(SYNCILU_FILL_TABLE)
  #define SYNCILU_FILL_TABLE 9
  #define SYNCILU_FILL_LATE  14
#endif
#define SYNCILU_FILL_MEMORY 64e6

/*
   The search of parilut: the logarithm of the places in the smallest table of a warp that unites rows, three
   quarters of which may be taken, in the largest one, and of those that a row has at most in a sweep; over
   the mean of the entries, for how many most rows have room in the first; and places of a sweep for each
   entry of a mean row. On an H200 a search of five rounds took 16 ms on 117,649 corners of tetrahedra, whose
   rows have 78 entries with their candidates and 196 at most, with 512 places for all, and 20 with 256,
   longer rows coming in another launch.
*/
#if !defined(SYNCILU_SEARCH_TABLE)
  #define SYNCILU_SEARCH_TABLE 7
  #define SYNCILU_SEARCH_LATE  10
  #define SYNCILU_SEARCH_BITS  11
#endif
#define SYNCILU_SEARCH_USUAL 1.9
#define SYNCILU_SEARCH_ROOM  4.0

/* Nanoseconds that a warp pauses in the analysis of levels when none of its rows can be finished. */
#define SYNCILU_LEVEL_PAUSE 40

/* Counters that blocks poll stand so many numbers apart, each in a line of memory of its own. */
#define SYNCILU_COUNTER_INTS 32

/*
   Nanoseconds between two looks at the throttle (see syncfree.cuh), and levels from the throttle to the
   row, or colors where rows are in blocks: 1.5 and 2.5 colors instead of 4 take 1.3 and 1.06 times as long
   on tetrahedra, 1.6 and 1.2 on elasticity, and the same on triangles; 8 take the same everywhere.
*/
#define SYNCILU_THROTTLE_PAUSE  50
#define SYNCILU_THROTTLE_LEVELS 3
#define SYNCILU_THROTTLE_COLORS 4.0

/*
   Levels from the throttle to the row in the factorization, with lists and without, at least. A row must
   begin the earlier the more it has to do before its last wait: with lists a level for each of its rounds,
   without them so many levels for each round in which it searches. On an H200, 48 and 128 levels instead of
   12 take 0.44 and 0.40 of the time without lists (elasticity, 18 rounds a row), 0.53 and 0.45 (quadratic,
   RCM), 0.32 and 0.17 (random, 196 entries a row), 0.97 (triangles). With lists, 400 instead of 12 take 0.26
   there, but 1.5 on 15-point grids.
*/
#define SYNCILU_THROTTLE_LIST   12
#define SYNCILU_THROTTLE_SEARCH 48
#define SYNCILU_THROTTLE_ROUNDS 10

/* Most rounds of the lists of updates, whose offsets are indices. */
#define SYNCILU_ROUNDS INT_MAX

/*
   One row of so many is looked at to see whether lists of updates would be too large by far, where there are
   so many rows.
*/
#define SYNCILU_SAMPLE      32
#define SYNCILU_SAMPLE_ROWS 80000

/*
   Entries of a row that its first lane waits for last, of the SYNCILU_LATE that are known: where values come
   through memory; where they are pushed; and there where no row has more. On an H200 four instead of two
   take, in memory, 1.1 to 1.4 times as long on meshes; pushed, 0.77 to 1.03 of the time, but 1.15 where no
   row has more than two (5-point, tridiagonal).
*/
#define SYNCILU_LATE_IN_MEMORY 2
#define SYNCILU_LATE_PUSHED    4
#define SYNCILU_LATE_FEW       2

/*
   Solve strategy cluster: blocks of the cluster, warps of a block that solve for rows, positions of a segment
   of the ring, of which a block has four in shared memory; threads of a block that deals rows, and the levels
   which it deals. On an H200, with 16 levels instead of 64 a solve takes 1.02 times as long in the mean, and
   the analysis of a narrow matrix 0.1 of 1 ms less; 32 lie between. Where there are fewer levels than for so
   many blocks, each deals fewer, down to a quarter.
*/
#define SYNCILU_CLUSTER_DEAL_BLOCKS 16
#if !defined(SYNCILU_CLUSTER_BLOCKS)
  #define SYNCILU_CLUSTER_BLOCKS       16
  #define SYNCILU_CLUSTER_WARPS        15
  #define SYNCILU_CLUSTER_SEGMENT      4096
  #define SYNCILU_CLUSTER_DEAL         512
  #define SYNCILU_CLUSTER_LEVELS_DEALT 32
#endif

/*
   Rows of a level in the mean below which a row has two lanes at least, unless no row has more entries than
   one lane waits for last: 16 rows of a slice wait for fewer others than 32 do. On an H200, with two entries
   waited for last, triangles in RCM order, 124 rows a level, took 0.75 of the time so, a quadtree with 33
   rows a level 0.88; triangles along a curve, 204 rows a level, 0.68; in RCM order, 342 rows a level, 1.05; four
   lanes were slower.
*/
#define SYNCILU_CLUSTER_ROWS 280

/*
   Auto takes the cluster for levels with rows for so many warps in the mean, and at least so many levels,
   since it starts some us later. On an H200 a level takes it 0.17 to 0.29 us, or 1/66 us a warp where that is
   more, and ell 0.34 to 0.45 us: in RCM order finite elements take 0.48 of ell's time, as meshed 0.57 to
   0.92, triangles as meshed 0.56, 15-point grids with 26 warps a level 0.75, with 34 0.91, with 57 1.4,
   7-point ones with 24 0.87, with 43 1.4; elasticity with 95 2.3. Of the time of tiles, 15-point grids with
   34 warps a level take 0.88. Warps with few rows, of 1 << SYNCILU_CLUSTER_LANES lanes or more, push less:
   quadratic finite elements with 22 and 43 warps take 0.90 of ell's time. Where rows wait by inodes elsewhere, a
   cluster, in which they do not, takes 0.90 of the time with 6 warps a level (elasticity in RCM order), 1.5 with 13.
*/
#define SYNCILU_CLUSTER_SLICES        36
#define SYNCILU_CLUSTER_SLICES_LONG   48
#define SYNCILU_CLUSTER_SLICES_INODES 8
#define SYNCILU_CLUSTER_LANES         3
#define SYNCILU_CLUSTER_LEVELS        32

/*
   Rows up to which U of a symmetric pattern has its own earliest levels in a cluster, not those of L from the end. On
   an H200 an application takes 0.92 to 0.95 of the time so on finite-element matrices, and transposed 1.04 to 1.06.
*/
#define SYNCILU_CLUSTER_EARLIEST 300000

/*
   Runs of levels by turns (see SyncILURuns). A level takes all multiprocessors SYNCILU_HOP_BY_LEVEL, and a cluster
   SYNCILU_HOP_CLUSTER or, where that is more, as much for each warp as makes both take the same with
   SYNCILU_CLUSTER_SLICES warps, or SYNCILU_CLUSTER_SLICES_LONG: 12.5 ns, where the 1/66 us above are 15, and 9.4. With
   more than SYNCILU_CLUSTER_WIDE rows it takes the cluster SYNCILU_CLUSTER_WIDE_TIME for each of them: on an H200 2.4
   ns with 32,000 to 62,000 rows, 7 ns with twice as many, and 0.7 to 0.8 ns with fewer than 12,000, so that
   triangles refined to a corner, of whose 170,000 rows 76 % are on three such levels, take one cluster 1.29 times
   as long as all multiprocessors. The bytes of a level are the same for both.

   Nanoseconds that each run after the first takes besides: a launch, which elsewhere takes 3,000 to 5,000, and what
   a cluster needs until all of its blocks have begun and have filled their rings. Both are estimates, not measured
   one by one; with them an L-shaped domain (124,000 rows, four wide levels and 307 narrow ones) was to take 0.13 ms
   by turns, and takes 0.117, by all multiprocessors alone 0.211. Runs that save less are not made, nor more than
   SYNCILU_RUNS_MOST.
*/
#define SYNCILU_CLUSTER_WIDE      20000
#define SYNCILU_CLUSTER_WIDE_TIME 2.4
#define SYNCILU_RUNS_MOST         8
#if !defined(SYNCILU_RUN_LAUNCH)
  #define SYNCILU_RUN_LAUNCH  4000.0
  #define SYNCILU_RUN_CLUSTER 3000.0
#endif

/*
   Where a row has one lane in tiles: nanoseconds that a level takes a cluster for each warp, where that is more
   than SYNCILU_HOP_CLUSTER, and how many times as long tiles, or where levels are wide in the mean all
   multiprocessors alone, must take, since the cluster takes three times the analysis of tiles, twice the time for
   16 right-hand sides, and where only diagonals have updates 1.1 to 1.8 times
   that of a factorization. On an H200 it takes 0.38 and 0.57 of the time on 7-point grids of 10x10x1000 and
   20x20x200 points, 0.58 to 0.64 on 5-point ones of 8 to 150 points in the numbering, 0.84 at 24^3. Not taken:
   0.81 at 300x300, 0.84 to 0.95 on triangles row by row, 1.3 to 2.3 on larger grids.
*/
#define SYNCILU_CLUSTER_WARP_TIME 15.0
#define SYNCILU_CLUSTER_GAIN      1.2

#endif
