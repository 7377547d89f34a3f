/*
   Runs the threads of a kernel on one thread of the host.

   Each thread is a fiber with a stack of its own. Blocks begin in the order of the policy, and only so many
   are resident at a time: a block that waits for one that has not begun waits for ever, as on a GPU whose
   multiprocessors are full. In each pass the warps of the resident blocks have their turn, in which every
   lane that is ready runs until it meets others, pauses, gives way or ends.

   Lanes that name each other in a mask, and threads at a barrier, go on when the last of them has arrived.
   They must have arrived at the same operation in the same line. What else may happen on a GPU is undefined,
   and ends the program here.
*/
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>
#include <algorithm>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>
#include "internal.h"
#if !defined(__x86_64__)
  #include <ucontext.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
  #include <sanitizer/common_interface_defs.h>
#endif

namespace emulator
{

uint3 thread_index, block_index;
dim3  block_size, grid_size;
int   patience = 1, tedium;
long  changes, looks;
int   watch;

namespace
{

constexpr int    WARP  = 32;
constexpr size_t STACK = 256 << 10, PAGE = 4096, LINE = 64;
constexpr int    WINDOW = 16; /* with the policy random, how far the order of the blocks strays */
/* accesses after which a thread lets others run in any case: it may poll */
constexpr int PATIENCE = 4096;
/* polls after which it does so */
constexpr int POLLS = 8;
/* turns for which a thread that waits for a barrier is not switched to; then the wait may end without success */
constexpr int NAPS = 64;
/* passes in which no thread looked at shared data, for one in which some did */
constexpr long UNTOUCHED   = 100;
constexpr int  REPORT_MOST = 24; /* lines of a report on the threads */
/* addresses in shared memory: the first one, as on compute capability 9.0, and what is between two variables at least */
constexpr unsigned SHARED_FIRST = 1 << 10, SHARED_GAP = 256;
/* bits of an address in the shared memory of one block, above which stands the block of a cluster */
constexpr int CLUSTER_SHIFT = 24;

const char *const operation_names[] = {"__syncwarp",        "__shfl_sync",       "__shfl_up_sync",    "__shfl_down_sync",  "__shfl_xor_sync",
                                       "__ballot_sync",     "__any_sync",        "__all_sync",        "__reduce_min_sync", "__reduce_min_sync",
                                       "__reduce_max_sync", "__reduce_max_sync", "__reduce_add_sync", "__reduce_and_sync", "__reduce_or_sync",
                                       "__reduce_xor_sync", "__match_any_sync"};
const char *const barrier_names[]   = {"__syncthreads", "__syncthreads_or", "__syncthreads_and", "__syncthreads_count"};

enum Policy {
  ORDER,
  RANDOM,
  LAST
};
const char *const policy_names[] = {"order", "random", "last"};

struct Options {
  int  resident, yield, spin;
  long hang;
  int  policy;
  int  trace;
  int  seed;
};
Options options;

unsigned long long random_state = 88172645463325252ull;

/*
   Contexts. On x86-64 the stack is exchanged here, in place of a call: processors predict where a function returns
   to by the calls before it, which those of another thread would spoil, while the threads of a warp mostly
   return to the same place. swapcontext() also saves the signals to be blocked, by a system call, which would be most
   of the time that the emulator takes.
*/
#if defined(__x86_64__)
struct Context {
  void *stack_pointer;
};

inline __attribute__((always_inline)) void exchange(Context &from, Context &to)
{
  void **place = &from.stack_pointer, *pointer = to.stack_pointer;

  /* the 128 bytes below the stack pointer are the caller's; what is named at the end the compiler saves */
  asm volatile("lea -128(%%rsp), %%rsp\n\t"
               "push %%rbp\n\t"
               "lea 1f(%%rip), %%rax\n\t"
               "push %%rax\n\t"
               "mov %%rsp, (%0)\n\t"
               "mov %1, %%rsp\n\t"
               "pop %%rax\n\t"
               "jmp *%%rax\n"
               "1:\n\t"
               "pop %%rbp\n\t"
               "lea 128(%%rsp), %%rsp"
               : "+D"(place), "+S"(pointer)
               :
               : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",
                 "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
}

void prepare(Context &context, char *stack, void (*entry)())
{
  /*
     Stacks lie at the same places of their pages, and the caches hold few lines of one such place: without
     steps of their own the threads of a warp would push each other out at every switch.
  */
  const size_t step = (uintptr_t)stack / (STACK + PAGE) % (PAGE / LINE) * LINE;
  void       **top  = (void **)(stack + STACK - LINE - step);

  *--top                = nullptr; /* entry() does not return */
  *--top                = (void *)entry;
  context.stack_pointer = top;
}
#else
typedef ucontext_t Context;

void exchange(Context &from, Context &to)
{
  if (swapcontext(&from, &to)) fail("swapcontext failed");
}

void prepare(Context &context, char *stack, void (*entry)())
{
  if (getcontext(&context)) fail("getcontext failed");
  context.uc_stack.ss_sp   = stack;
  context.uc_stack.ss_size = STACK;
  context.uc_link          = nullptr;
  makecontext(&context, entry, 0);
}
#endif

/* Stacks are kept for the next threads. The page below each cannot be accessed. */
std::vector<char *> free_stacks;

char *take_stack()
{
  if (free_stacks.empty()) {
    char *p = (char *)mmap(nullptr, STACK + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED || mprotect(p, PAGE, PROT_NONE)) fail("no memory for the stack of a thread");
    return p + PAGE;
  }
  char *stack = free_stacks.back();
  free_stacks.pop_back();
  return stack;
}

enum State {
  READY,
  IN_WARP,    /* waits for lanes of its mask */
  IN_BLOCK,   /* waits at a barrier */
  IN_CLUSTER, /* waits at a barrier of the cluster */
  ENDED
};

struct Warp;
struct Block;

struct Thread {
  Context  context;
  char    *stack;
  void    *fake_stack; /* AddressSanitizer's */
  State    state;
  unsigned number, lane;
  uint3    index; /* threadIdx */
  Warp    *warp;
  Place    place; /* where it has last been seen */
  /* what it brings to where it meets others, and what it takes from there */
  Operation operation;
  Barrier   barrier;
  unsigned  mask;
  int       argument, width;
  uint64_t  value, result;
  /* the barrier in shared memory that it waits for, and for how many more turns it is not switched to */
  const BarrierState *awaited;
  int                 naps;
  bool                waited; /* for the end of the kernel before */
};

struct Warp {
  Block   *block;
  Thread  *lane;                  /* the first one */
  unsigned alive, ready, waiting; /* lanes; waiting: for lanes of their mask */
};

struct SharedVariable {
  const void    *key; /* NULL: the dynamic one */
  unsigned char *data;
  size_t         bytes;
  unsigned       address; /* as PTX has it */
};

/* Blocks that are resident together; one is a cluster by itself. */
struct Cluster {
  std::vector<Block *> block;                  /* NULL: has ended */
  unsigned             alive = 0, arrived = 0; /* threads; arrived: at a barrier */
};

/* A barrier of a number: threads that have arrived, and how often it has been passed. */
struct NamedBarrier {
  unsigned arrived = 0, passed = 0;
};

struct Block {
  unsigned                    number;
  unsigned                    rank;
  Cluster                    *cluster;
  uint3                       index;          /* blockIdx */
  unsigned                    alive, arrived; /* threads; arrived: at a barrier */
  NamedBarrier                named[16];      /* barriers of part of the threads */
  std::vector<Thread>         threads;
  std::vector<Warp>           warps;
  std::vector<SharedVariable> shared;
  size_t                      shared_bytes;
};

/* The launch that runs. */
struct Running {
  const void        *kernel;
  std::string        name;
  Config             config;
  unsigned           threads;
  unsigned long long grid;
  unsigned long long begun;
  void (*body)(const void *);
  const void          *arguments;
  std::vector<Block *> resident;
};
Running *running;
Thread  *current;
Context  scheduler;
#if defined(__SANITIZE_ADDRESS__)
const void *scheduler_stack;
size_t      scheduler_stack_size;
bool        from_scheduler;
#endif

const char *state_name(const Thread &t)
{
  switch (t.state) {
  case IN_WARP:
    return operation_names[(int)t.operation];
  case IN_BLOCK:
    return barrier_names[(int)t.barrier];
  case IN_CLUSTER:
    return "barrier.cluster";
  default:
    return "running";
  }
}

/* What a report says of the threads of the resident blocks: how many of each warp are where. */
void report_threads()
{
  int lines = 0, more = 0;

  if (!running) return;
  fprintf(stderr,
          "emulator:   <<<%llu, %u, %zu>>>, %zu blocks resident, %llu begun; EMULATOR_RESIDENT=%d EMULATOR_POLICY=%s EMULATOR_YIELD=%d EMULATOR_SEED=%d\n",
          running->grid, running->threads, running->config.shared, running->resident.size(), running->begun, options.resident, policy_names[options.policy],
          options.yield, options.seed);
  for (const Block *b : running->resident) {
    std::map<std::string, std::pair<unsigned, unsigned>> groups; /* the first thread and how many */

    for (const Thread &t : b->threads) {
      char text[512];

      if (t.state == ENDED) continue;
      if (t.place.file) (void)snprintf(text, sizeof(text), "%s:%d: %s", t.place.file, t.place.line, state_name(t));
      else (void)snprintf(text, sizeof(text), "not begun");
      auto group = groups.emplace(text, std::make_pair(t.number, 0u)).first;
      group->second.second++;
    }
    for (const auto &group : groups) {
      if (lines++ >= REPORT_MOST) more++;
      else
        fprintf(stderr, "emulator:   block %u, %u threads from thread %u on: last at %s\n", b->number, group.second.second, group.second.first,
                group.first.c_str());
    }
  }
  if (more) fprintf(stderr, "emulator:   and %d groups of threads more\n", more);
}

[[noreturn]] void end_report()
{
  report_threads();
  if (emulatorContext && emulatorContext()[0]) fprintf(stderr, "emulator:   at %s\n", emulatorContext());
  (void)fflush(nullptr);
  _exit(EXIT_STATUS);
}

void begin_report()
{
  (void)fflush(stdout);
  fprintf(stderr, "emulator: ");
  if (running) fprintf(stderr, "kernel %s: ", running->name.c_str());
  if (running && current) fprintf(stderr, "block %u, thread %u: ", current->warp->block->number, current->number);
}

/* A thread that neither meets others nor accesses shared data cannot be stopped but by a signal. */
volatile unsigned long turns;
unsigned long          turns_seen;
int                    seconds_same;

void on_second(int)
{
  if (!running || !current || turns != turns_seen) {
    turns_seen   = turns;
    seconds_same = 0;
  } else if (++seconds_same >= options.spin) fail("hang: it has run for %d seconds without meeting others, pausing, or accessing shared data", options.spin);
}

#if !defined(__SANITIZE_ADDRESS__)
/*
   In a kernel a crash ends in a report; elsewhere its signal goes where it went. AddressSanitizer has its
   own.
*/
const int        crash_signals[] = {SIGSEGV, SIGBUS, SIGFPE};
struct sigaction crash_before[3];

void on_crash(int sig)
{
  for (int k = 0; k < 3; k++) {
    if (sig == crash_signals[k]) (void)sigaction(sig, &crash_before[k], nullptr);
  }
  if (running) fail("%s", strsignal(sig));
  (void)raise(sig);
}

void watch_crashes()
{
  static char      stack[64 << 10]; /* the thread's own may be what has no room left */
  stack_t          alternative = {};
  struct sigaction action      = {};

  alternative.ss_sp   = stack;
  alternative.ss_size = sizeof(stack);
  (void)sigaltstack(&alternative, nullptr);
  action.sa_handler = on_crash;
  action.sa_flags   = SA_ONSTACK;
  for (int k = 0; k < 3; k++) (void)sigaction(crash_signals[k], &action, &crash_before[k]);
}
#endif

void initialize()
{
  static bool done = false;
  const char *policy;

  if (done) return;
  done             = true;
  policy           = getenv("EMULATOR_POLICY");
  options.resident = (int)option("EMULATOR_RESIDENT", 4, 1, 4096);
  options.yield    = (int)option("EMULATOR_YIELD", 0, 0, 100);
  options.seed     = (int)option("EMULATOR_SEED", 1, 1, INT_MAX);
  options.hang     = (long)option("EMULATOR_HANG", 50000, 1, INT_MAX);
  options.spin     = (int)option("EMULATOR_SPIN", 20, 1, INT_MAX);
  options.trace    = (int)option("EMULATOR_TRACE", 0, 0, 2);
  options.policy   = RANDOM;
  if (policy) {
    for (options.policy = 0; options.policy <= LAST && strcmp(policy, policy_names[options.policy]) != 0;) options.policy++;
    if (options.policy > LAST) fail("EMULATOR_POLICY=%s: must be order, random or last", policy);
  }
  random_state = 0x9e3779b97f4a7c15ull * (unsigned long long)options.seed;
  patience     = PATIENCE;
  tedium       = options.yield ? 0 : PATIENCE / POLLS; /* with yields, turns end soon anyway */

#if !defined(__SANITIZE_ADDRESS__)
  watch_crashes();
#endif
  struct sigaction       action = {};
  const struct itimerval second = {
    {1, 0},
    {1, 0}
  };
  action.sa_handler = on_second;
  action.sa_flags   = SA_RESTART;
  (void)sigaction(SIGVTALRM, &action, nullptr);
  (void)setitimer(ITIMER_VIRTUAL, &second, nullptr);
}

/* Whether a lane waits for a barrier's phase that has not ended. To see that here is faster than to switch to it. */
bool asleep(Thread &t)
{
  if (!t.naps) return false;
  if ((int)t.awaited->phase != t.argument) t.naps = 0;
  else t.naps--;
  looks++;
  return t.naps > 0;
}

/* A turn of a warp, in which each lane that is ready runs once, by the policy's order. */
struct Turn {
  Warp    *warp;
  unsigned start, next; /* lanes that were looked at */

  Thread *take()
  {
    while (next < WARP) {
      const unsigned lane = options.policy == LAST ? WARP - 1 - next : (next + start) % WARP;

      next++;
      if (warp->ready >> lane & 1 && !asleep(warp->lane[lane])) return &warp->lane[lane];
    }
    return nullptr;
  }
} turn;

void make_current(Thread &t)
{
  current      = &t;
  turns        = turns + 1;
  thread_index = t.index;
}

/* Runs the lanes that are ready, which go over to each other; the last one comes back. */
void run_warp(Warp &w)
{
  turn            = {&w, options.policy == RANDOM ? draw(WARP) : 0, 0};
  Thread *const t = turn.take();
  if (!t) return;
  block_index = w.block->index;
  make_current(*t);
#if defined(__SANITIZE_ADDRESS__)
  void *fake_stack;
  from_scheduler = true;
  __sanitizer_start_switch_fiber(&fake_stack, t->stack, STACK);
  exchange(scheduler, t->context);
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#else
  exchange(scheduler, t->context);
#endif
  current = nullptr;
}

#if defined(__SANITIZE_ADDRESS__)
/* The other stack is the scheduler's where a turn begins. */
void arrive(void *fake_stack)
{
  const void *stack;
  size_t      size;

  __sanitizer_finish_switch_fiber(fake_stack, &stack, &size);
  if (from_scheduler) {
    scheduler_stack      = stack;
    scheduler_stack_size = size;
  }
  from_scheduler = false;
}
#endif

inline __attribute__((always_inline)) void suspend()
{
  Thread       &t = *current;
  Thread *const n = turn.take();

#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(t.state == ENDED ? nullptr : &t.fake_stack, n ? n->stack : scheduler_stack, n ? STACK : scheduler_stack_size);
#endif
  if (n) make_current(*n);
  exchange(t.context, n ? n->context : scheduler);
#if defined(__SANITIZE_ADDRESS__)
  arrive(t.fake_stack);
#endif
}

/* A number as coordinates, of which x comes first. */
uint3 coordinates(unsigned number, const dim3 &size)
{
  return {number % size.x, number / size.x % size.y, number / size.x / size.y};
}

bool same_place(const Place &a, const Place &b)
{
  return a.line == b.line && (a.file == b.file || !strcmp(a.file, b.file));
}

/* The lane that a shuffle reads. */
unsigned source_lane(const Thread &t)
{
  const unsigned base = t.lane & ~(unsigned)(t.width - 1), last = base + (unsigned)t.width - 1, by = (unsigned)t.argument;

  switch (t.operation) {
  case Operation::Shuffle:
    return base + (by & (unsigned)(t.width - 1));
  case Operation::ShuffleUp:
    return by > t.lane - base ? t.lane : t.lane - by;
  case Operation::ShuffleDown:
    return by > last - t.lane ? t.lane : t.lane + by;
  default:
    return (t.lane ^ by) > last ? t.lane : t.lane ^ by;
  }
}

uint64_t reduce(Operation operation, uint64_t a, uint64_t b)
{
  const uint32_t u = (uint32_t)a, v = (uint32_t)b;

  switch (operation) {
  case Operation::Min:
    return (int32_t)u < (int32_t)v ? u : v;
  case Operation::MinUnsigned:
    return u < v ? u : v;
  case Operation::Max:
    return (int32_t)u > (int32_t)v ? u : v;
  case Operation::MaxUnsigned:
    return u > v ? u : v;
  case Operation::Add:
    return (uint32_t)(u + v);
  case Operation::And:
    return u & v;
  case Operation::Or:
    return u | v;
  default:
    return u ^ v;
  }
}

/*
   Lets the lanes of a mask go on if the last of them has arrived. Those that have ended are not waited for.
*/
void complete_warp(Warp &w, unsigned mask)
{
  const unsigned members = mask & w.alive;

  if (!members || (members & ~w.waiting)) return;
  const Thread &first = w.lane[__builtin_ctz(members)];
  for (unsigned left = members; left; left &= left - 1) {
    const Thread &t = w.lane[__builtin_ctz(left)];

    if (t.operation == first.operation && t.mask == first.mask && same_place(t.place, first.place)) continue;
    current = nullptr;
    begin_report();
    fprintf(stderr, "divergence: block %u, warp %td: lane %u is at %s(0x%08x) in %s:%d, lane %u at %s(0x%08x) in %s:%d\n", w.block->number,
            &w - w.block->warps.data(), first.lane, operation_names[(int)first.operation], first.mask, first.place.file, first.place.line, t.lane,
            operation_names[(int)t.operation], t.mask, t.place.file, t.place.line);
    end_report();
  }
  uint64_t all  = first.value;
  unsigned ones = 0;
  for (unsigned left = members; left; left &= left - 1) {
    const Thread &t = w.lane[__builtin_ctz(left)];

    if (&t != &first && first.operation >= Operation::Min && first.operation <= Operation::Xor) all = reduce(first.operation, all, t.value);
    if (t.value) ones |= 1u << t.lane;
  }
  for (unsigned left = members; left; left &= left - 1) {
    Thread &t = w.lane[__builtin_ctz(left)];

    switch (t.operation) {
    case Operation::Sync:
      break;
    case Operation::Shuffle:
    case Operation::ShuffleUp:
    case Operation::ShuffleDown:
    case Operation::ShuffleXor: {
      const unsigned from = source_lane(t);

      if (!(members >> from & 1))
        fail_here(t.place, "%s: lane %u reads from lane %u, which %s", operation_names[(int)t.operation], t.lane, from,
                  mask >> from & 1 ? "has ended or does not exist" : "is not in the mask");
      t.result = w.lane[from].value;
      break;
    }
    case Operation::Ballot:
      t.result = ones;
      break;
    case Operation::Any:
      t.result = ones != 0;
      break;
    case Operation::All:
      t.result = ones == members;
      break;
    case Operation::MatchAny:
      t.result = 0;
      for (unsigned other = members; other; other &= other - 1) {
        if (w.lane[__builtin_ctz(other)].value == t.value) t.result |= other & -other;
      }
      break;
    default:
      t.result = all;
    }
    t.state = READY;
  }
  w.waiting &= ~members;
  w.ready |= members;
}

/* The same for a barrier. */
void complete_block(Block &b)
{
  const Thread *first = nullptr;
  int           count = 0;

  if (!b.arrived || b.arrived < b.alive) return;
  for (const Thread &t : b.threads) {
    if (t.state != IN_BLOCK) continue;
    if (!first) first = &t;
    count += (int)t.value;
    if (t.barrier == first->barrier && same_place(t.place, first->place)) continue;
    current = nullptr;
    begin_report();
    fprintf(stderr, "divergence: block %u: thread %u is at %s in %s:%d, thread %u at %s in %s:%d\n", b.number, first->number,
            barrier_names[(int)first->barrier], first->place.file, first->place.line, t.number, barrier_names[(int)t.barrier], t.place.file, t.place.line);
    end_report();
  }
  for (Thread &t : b.threads) {
    if (t.state != IN_BLOCK) continue;
    t.result = t.barrier == Barrier::Count ? count : t.barrier == Barrier::Or ? count != 0 : count == (int)b.arrived;
    t.state  = READY;
    t.warp->ready |= 1u << t.lane;
  }
  b.arrived = 0;
}

void complete_cluster(Cluster &c)
{
  if (!c.arrived || c.arrived < c.alive) return;
  for (Block *b : c.block) {
    if (!b) continue;
    for (Thread &t : b->threads) {
      if (t.state != IN_CLUSTER) continue;
      t.state = READY;
      t.warp->ready |= 1u << t.lane;
    }
  }
  c.arrived = 0;
}

void entry()
{
#if defined(__SANITIZE_ADDRESS__)
  arrive(nullptr);
#endif
  running->body(running->arguments);

  Thread &t = *current;
  Warp   &w = *t.warp;
  t.state   = ENDED;
  w.alive &= ~(1u << t.lane);
  w.ready &= ~(1u << t.lane);
  w.block->alive--;
  w.block->cluster->alive--;
  changes++;
  /* others may have waited for this thread alone */
  for (unsigned left = w.waiting; left; left &= left - 1) {
    const Thread &other = w.lane[__builtin_ctz(left)];

    if (other.state == IN_WARP && other.mask >> t.lane & 1) complete_warp(w, other.mask);
  }
  complete_block(*w.block);
  complete_cluster(*w.block->cluster);
  suspend();
  __builtin_unreachable();
}

unsigned char *add_shared(Block &b, const void *key, size_t bytes)
{
  const size_t most    = dynamic_limit(running->kernel) > SHARED_DEFAULT ? SHARED_OPTIN : SHARED_DEFAULT;
  unsigned     address = SHARED_FIRST;
  void        *data;

  b.shared_bytes += bytes;
  if (b.shared_bytes > most) fail("it asks for %zu bytes of shared memory, of which there are %zu", b.shared_bytes, most);
  if (posix_memalign(&data, 256, bytes)) fail("no memory");
  memset(data, fill_byte(), bytes);
  if (!b.shared.empty()) address = (b.shared.back().address + (unsigned)b.shared.back().bytes + 2 * SHARED_GAP - 1) / SHARED_GAP * SHARED_GAP;
  b.shared.push_back({key, (unsigned char *)data, bytes, address});
  return (unsigned char *)data;
}

Block *begin_block(unsigned number, Cluster *cluster)
{
  const unsigned n = running->threads;
  Block         *b = new Block;

  b->number  = number;
  b->rank    = (unsigned)cluster->block.size();
  b->cluster = cluster;
  cluster->block.push_back(b);
  cluster->alive += n;
  b->index        = coordinates(number, grid_size);
  b->alive        = n;
  b->arrived      = 0;
  b->shared_bytes = 0;
  b->threads      = std::vector<Thread>(n);
  b->warps        = std::vector<Warp>((n + WARP - 1) / WARP);
  if (running->config.shared) (void)add_shared(*b, nullptr, running->config.shared);
  for (unsigned k = 0; k < b->warps.size(); k++) {
    const unsigned lanes = std::min(n - k * WARP, (unsigned)WARP);

    b->warps[k]       = {b, &b->threads[k * WARP], lanes == WARP ? ~0u : (1u << lanes) - 1, 0, 0};
    b->warps[k].ready = b->warps[k].alive;
  }
  for (unsigned k = 0; k < n; k++) {
    Thread &t    = b->threads[k];
    t.number     = k;
    t.index      = coordinates(k, block_size);
    t.lane       = k % WARP;
    t.warp       = &b->warps[k / WARP];
    t.state      = READY;
    t.place      = {nullptr, 0};
    t.waited     = false;
    t.stack      = take_stack();
    t.fake_stack = nullptr;
    prepare(t.context, t.stack, entry);
  }
  changes++;
  return b;
}

void end_block(Block *b)
{
  Cluster *const c  = b->cluster;
  c->block[b->rank] = nullptr;
  if (!c->alive && std::count(c->block.begin(), c->block.end(), nullptr) == (long)c->block.size()) delete c;
  for (const Thread &t : b->threads) free_stacks.push_back(t.stack);
  for (const SharedVariable &s : b->shared) free(s.data);
  delete b;
  changes++;
}

void run_block(Block &b)
{
  const unsigned n = (unsigned)b.warps.size();

  for (unsigned k = 0; k < n; k++) {
    Warp     &w     = b.warps[options.policy == RANDOM ? draw(n) : options.policy == LAST ? n - 1 - k : k];
    const int times = options.policy == RANDOM ? 1 + (int)draw(4) : 1;

    for (int t = 0; t < times && w.ready; t++) run_warp(w);
  }
}

/* The blocks of a grid, or its clusters, in the order in which they begin. */
class Sequence {
  unsigned              n, next = 0;
  std::vector<unsigned> window;

public:
  explicit Sequence(unsigned blocks) : n(blocks) { }

  bool empty() const { return next == n && window.empty(); }

  unsigned take()
  {
    if (options.policy == ORDER) return next++;
    if (options.policy == LAST) return n - 1 - next++;
    while (next < n && window.size() < WINDOW) window.push_back(next++);
    std::swap(window[draw((unsigned)window.size())], window.back());
    const unsigned block = window.back();
    window.pop_back();
    return block;
  }
};

bool any_ready()
{
  for (const Block *b : running->resident) {
    for (const Warp &w : b->warps) {
      if (w.ready) return true;
    }
  }
  return false;
}

void run_grid()
{
  const unsigned        size = running->config.cluster;
  Sequence              sequence((unsigned)(running->grid / size));
  std::vector<Block *> &resident = running->resident;
  long                  seen = changes, looked = looks, idle = 0;

  while (!sequence.empty() || !resident.empty()) {
    while (!sequence.empty() && (int)(resident.size() / size) < options.resident) {
      const unsigned first   = sequence.take() * size;
      Cluster       *cluster = new Cluster;

      for (unsigned k = 0; k < size; k++) resident.push_back(begin_block(first + k, cluster));
      running->begun += size;
    }
    for (size_t k = 0; k < resident.size(); k++) {
      const size_t n = resident.size();

      run_block(*resident[options.policy == RANDOM ? draw((unsigned)n) : options.policy == LAST ? n - 1 - k : k]);
    }
    for (size_t k = 0; k < resident.size();) {
      if (resident[k]->alive) k++;
      else {
        end_block(resident[k]);
        resident.erase(resident.begin() + (long)k);
      }
    }
    if (changes != seen) idle = 0;
    else if (!resident.empty() && !any_ready()) {
      begin_report();
      fprintf(stderr, "deadlock: no thread can go on\n");
      end_report();
    } else {
      idle += looks != looked ? UNTOUCHED : 1;
      if (idle > options.hang * UNTOUCHED) {
        begin_report();
        fprintf(stderr, "hang: in %ld passes no thread has changed what others look at\n", options.hang);
        end_report();
      }
    }
    seen   = changes;
    looked = looks;
  }
}

/* From a signature of launch(): what stands behind Kernel =. */
std::string kernel_name(const char *signature)
{
  const std::string mark = "Kernel = ", anonymous = "{anonymous}::";
  std::string       name  = signature;
  const size_t      begin = name.find(mark);

  if (begin != std::string::npos) {
    const size_t from = begin + mark.size();

    name = name.substr(from, name.find_first_of(";]", from) - from);
  }
  for (size_t at; (at = name.find(anonymous)) != std::string::npos;) name.erase(at, anonymous.size());
  return name;
}

} // namespace

/* xorshift64 */
unsigned draw(unsigned below)
{
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (unsigned)(random_state >> 24) % below;
}

#if defined(__SANITIZE_ADDRESS__)
/* Called before AddressSanitizer's own report. */
extern "C" void __asan_on_error()
{
  if (running) fprintf(stderr, "emulator: kernel %s: AddressSanitizer:\n", running->name.c_str());
  if (emulatorContext && emulatorContext()[0]) fprintf(stderr, "emulator:   at %s\n", emulatorContext());
}
#endif

long long option(const char *name, long long otherwise, long long least, long long most)
{
  const char *text = getenv(name);
  char       *end;
  long long   value;

  if (!text || !text[0]) return otherwise;
  value = strtoll(text, &end, 0);
  if (*end || value < least || value > most) fail("%s=%s: must be a number from %lld to %lld", name, text, least, most);
  return value;
}

void fail(const char *format, ...)
{
  va_list list;

  begin_report();
  va_start(list, format);
  (void)vfprintf(stderr, format, list);
  va_end(list);
  fprintf(stderr, "\n");
  end_report();
}

void trace(const char *format, ...)
{
  va_list list;

  initialize();
  if (options.trace < 2) return;
  fprintf(stderr, "emulator: ");
  va_start(list, format);
  (void)vfprintf(stderr, format, list);
  va_end(list);
  fprintf(stderr, "\n");
}

void fail_here(Place place, const char *format, ...)
{
  va_list list;

  begin_report();
  fprintf(stderr, "%s:%d: ", place.file, place.line);
  va_start(list, format);
  (void)vfprintf(stderr, format, list);
  va_end(list);
  fprintf(stderr, "\n");
  end_report();
}

uint64_t meet_warp(Operation operation, unsigned mask, uint64_t value, int argument, int width, Place place)
{
  Thread &t = *current;
  Warp   &w = *t.warp;

  if (!(mask >> t.lane & 1)) fail_here(place, "%s: lane %u is not in its own mask 0x%08x", operation_names[(int)operation], t.lane, mask);
  if (width < 1 || width > WARP || (width & (width - 1))) fail_here(place, "%s: width %d is no power of two up to 32", operation_names[(int)operation], width);
  t.operation = operation;
  t.mask      = mask;
  t.value     = value;
  t.argument  = argument;
  t.width     = width;
  t.place     = place;
  t.state     = IN_WARP;
  w.ready &= ~(1u << t.lane);
  w.waiting |= 1u << t.lane;
  complete_warp(w, mask);
  suspend();
  return t.result;
}

int meet_block(Barrier barrier, int value, Place place)
{
  Thread &t = *current;

  t.barrier = barrier;
  t.value   = (uint64_t)value;
  t.place   = place;
  t.state   = IN_BLOCK;
  t.warp->ready &= ~(1u << t.lane);
  t.warp->block->arrived++;
  complete_block(*t.warp->block);
  suspend();
  return (int)t.result;
}

/* Lanes come one by one, and poll: they are no operation of the warp. */
void meet_threads(int number, int threads, Place place)
{
  Block &block = *current->warp->block;

  if (number < 1 || number > 15) fail_here(place, "bar.sync: there is no barrier %d; that of the block is 0", number);
  if (threads <= 0 || threads % WARP || (size_t)threads > block.threads.size()) fail_here(place, "bar.sync: %d threads are no warps of the block", threads);
  NamedBarrier  &barrier = block.named[number];
  const unsigned passed  = barrier.passed;
  if (++barrier.arrived == (unsigned)threads) {
    barrier.arrived = 0;
    barrier.passed++;
    changes++;
    return;
  }
  do {
    looks++;
    give_way(place);
  } while (barrier.passed == passed);
}

void meet_cluster(Place place)
{
  Thread &t = *current;

  t.place = place;
  t.state = IN_CLUSTER;
  t.warp->ready &= ~(1u << t.lane);
  t.warp->block->cluster->arrived++;
  complete_cluster(*t.warp->block->cluster);
  suspend();
}

unsigned cluster_most()
{
  return (unsigned)option("EMULATOR_CLUSTER", 16, 1, 16);
}

unsigned cluster_rank()
{
  return current->warp->block->rank;
}

/* A block of the cluster of this one, which must be there. */
static Block &cluster_block(unsigned rank)
{
  const Cluster &cluster = *current->warp->block->cluster;

  if (rank >= cluster.block.size()) fail("block %u of a cluster of %zu", rank, cluster.block.size());
  if (!cluster.block[rank]) fail("block %u of the cluster has ended", rank);
  return *cluster.block[rank];
}

void *cluster_shared(const void *p, unsigned rank)
{
  const Block    &own    = *current->warp->block;
  unsigned char  *data   = (unsigned char *)dynamic_shared();
  const ptrdiff_t offset = (const unsigned char *)p - data;

  if (offset < 0 || (size_t)offset >= own.shared[0].bytes) fail("%p is no address in the dynamic shared memory of this block", p);
  return cluster_block(rank).shared[0].data + offset;
}

/* The block stands above the address. */
unsigned cluster_address(unsigned address, unsigned rank)
{
  (void)shared_pointer(address);
  (void)cluster_block(rank);
  return address + ((rank + 1) << CLUSTER_SHIFT);
}

/* The shared variable of a block that p names, NULL if there is none. */
static const SharedVariable *shared_variable(const Block &b, const void *p)
{
  for (const SharedVariable &s : b.shared) {
    if ((const unsigned char *)p >= s.data && (const unsigned char *)p < s.data + s.bytes) return &s;
  }
  return nullptr;
}

static bool is_shared(const void *p)
{
  for (const Block *b : running->resident) {
    if (shared_variable(*b, p)) return true;
  }
  return false;
}

/*
   A kernel that is launched early runs after the end of the one before here, too. Whether it waits for that end is
   checked by words of global memory: note() has those that the one before wrote by PTX after launch_next(), and
   look_out() ends the program where a thread that has not waited accesses one. Atomic operations are not checked.
*/
static std::unordered_set<uintptr_t> written, written_before;

void launch_next()
{
  watch |= 1;
}

void wait_previous()
{
  current->waited = true;
}

void look_out(const void *p, size_t bytes, Place place)
{
  if (!(watch & 2) || current->waited) return;
  for (uintptr_t word = (uintptr_t)p / 8; word <= ((uintptr_t)p + bytes - 1) / 8; word++) {
    if (written_before.count(word)) fail_here(place, "access to what the kernel before writes, for whose end it has not waited");
  }
}

void note(const void *p, size_t bytes, Place place)
{
  look_out(p, bytes, place);
  if (!(watch & 1) || is_shared(p)) return;
  for (uintptr_t word = (uintptr_t)p / 8; word <= ((uintptr_t)p + bytes - 1) / 8; word++) written.insert(word);
}

void pause(Place place)
{
  current->place = place;
  suspend();
}

void give_way(Place place)
{
  patience = options.yield ? 1 + (int)draw(200u / (unsigned)options.yield) : PATIENCE;
  if (!current->place.file) current->place = place;
  suspend();
}

void await(const BarrierState *barrier, int parity, Place place)
{
  current->awaited  = barrier;
  current->argument = parity;
  current->naps     = NAPS;
  give_way(place);
  current->naps = 0;
}

void *static_shared(const void *key, size_t bytes)
{
  Block &b = *current->warp->block;

  for (const SharedVariable &s : b.shared) {
    if (s.key == key) return s.data;
  }
  return add_shared(b, key, bytes);
}

void *dynamic_shared()
{
  Block &b = *current->warp->block;

  if (b.shared.empty() || b.shared[0].key) fail("it uses dynamic shared memory, of which its launch asks for none");
  return b.shared[0].data;
}

/*
   An address in the block's shared memory, where variables stand one behind the other. 32 bits of p would not do: two
   variables far from each other may have the same ones, as with AddressSanitizer they often do.
*/
unsigned shared_address(const void *p)
{
  const SharedVariable *const s = shared_variable(*current->warp->block, p);

  if (s) return s->address + (unsigned)((const unsigned char *)p - s->data);
  fail("%p is no address in the shared memory of this block", p);
}

void *shared_pointer(unsigned address)
{
  const unsigned rank  = address >> CLUSTER_SHIFT;
  const Block   &block = rank ? cluster_block(rank - 1) : *current->warp->block;

  address -= rank << CLUSTER_SHIFT;
  for (const SharedVariable &s : block.shared) {
    const unsigned offset = address - s.address;

    if (offset < s.bytes) return s.data + offset;
  }
  fail("0x%08x is no address in the shared memory of this block", address);
}

void run(const void *kernel, const char *name, const Config &config, void (*body)(const void *), const void *arguments)
{
  const unsigned long long grid    = (unsigned long long)config.grid.x * config.grid.y * config.grid.z;
  const unsigned long long threads = (unsigned long long)config.block.x * config.block.y * config.block.z;

  initialize();
  if (running) fail("a kernel launches %s, which is not emulated", name);
  check_stream(config.stream, "launch");
  if (!grid || grid > INT_MAX || !threads || threads > (unsigned long long)THREADS_MAX) return set_error(cudaErrorInvalidConfiguration);
  if (!config.cluster || config.cluster > cluster_most() || grid % config.cluster) return set_error(cudaErrorInvalidConfiguration);
  if (config.shared > dynamic_limit(kernel)) return set_error(cudaErrorInvalidValue);

  Running launched = {kernel, kernel_name(name), config, (unsigned)threads, grid, 0, body, arguments, {}};
  if (options.trace) fprintf(stderr, "emulator: %s<<<%llu, %llu, %zu>>>\n", launched.name.c_str(), grid, threads, config.shared);
  running    = &launched;
  grid_size  = config.grid;
  block_size = config.block;
  watch      = config.early ? 2 : 0;
  written_before.swap(written);
  written.clear();
  run_grid();
  watch   = 0;
  running = nullptr;
}

} // namespace emulator
