//! [`IndexCache`]: what opened indices decoded, under one budget.
//!
//! ```text
//! shelf   one for each opened part of an index: a slot for each item that it may hold (a partition, a page, …)
//! slot    the item, if it is there, and a bit that says whether it was used lately
//! clock   all items that are there; beyond the budget a hand goes round, takes back the bits, and evicts the items
//!         whose bit was not set
//! ```
//!
//! An item that is there is had without a lock and without an allocation. One that is not is loaded once, however many
//! threads ask for it; the others wait. What was evicted lives on for as long as somebody uses it.

use arc_swap::{ArcSwapOption, Guard};
use std::{
    cell::Cell,
    collections::VecDeque,
    fmt,
    ops::Deref,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
};

/// What a cache holds.
pub(crate) trait Cached: Send + Sync + 'static {
    /// The bytes of memory that it takes; always the same.
    fn bytes(&self) -> usize;
}

/// The items of all indices of a dataset.
#[derive(Debug)]
pub(crate) struct IndexCache {
    budget: usize,
    bytes: AtomicUsize,
    entries: AtomicUsize,
    misses: AtomicU64,
    evictions: AtomicU64,
    hits: Hits,
    clock: Mutex<VecDeque<Entry>>,
}

/// What the cache of a dataset's indices holds, and how often it helped; see
/// [`Dataset::index_cache`](crate::Dataset::index_cache).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheUsage {
    /// The most bytes that it keeps.
    pub budget: usize,
    /// The bytes of memory that its items take. What is used where it lies in a file takes none.
    pub bytes: usize,
    /// The items that it holds: partitions of vector indices, say.
    pub entries: usize,
    /// How often an item was there.
    pub hits: u64,
    /// How often an item had to be loaded.
    pub misses: u64,
    /// How often an item was given up for others.
    pub evictions: u64,
}

/// An item that is there.
struct Entry {
    shelf: Weak<dyn Evict>,
    index: usize,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Entry({})", self.index)
    }
}

/// The side of a shelf that the clock sees.
trait Evict: Send + Sync {
    /// Takes back the bit that an item was used; whether it was set.
    fn was_used(&self, index: usize) -> bool;

    /// Gives an item up; the bytes that it took.
    fn evict(&self, index: usize) -> usize;
}

impl IndexCache {
    pub(crate) fn new(budget: usize) -> Arc<Self> {
        Arc::new(IndexCache {
            budget,
            bytes: AtomicUsize::new(0),
            entries: AtomicUsize::new(0),
            misses: AtomicU64::new(0),
            evictions: AtomicU64::new(0),
            hits: Hits::default(),
            clock: Mutex::default(),
        })
    }

    pub(crate) fn usage(&self) -> CacheUsage {
        CacheUsage {
            budget: self.budget,
            bytes: self.bytes.load(Ordering::Relaxed),
            entries: self.entries.load(Ordering::Relaxed),
            hits: self.hits.sum(),
            misses: self.misses.load(Ordering::Relaxed),
            evictions: self.evictions.load(Ordering::Relaxed),
        }
    }

    /// Counts an item of `bytes` that a shelf now holds, and gives up others as the budget asks.
    fn insert(&self, entry: Entry, bytes: usize) {
        let mut clock = self.clock.lock().unwrap_or_else(PoisonError::into_inner);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.entries.fetch_add(1, Ordering::Relaxed);
        clock.push_back(entry);
        // Shelves that are gone took their items along.
        if clock.len() > 2 * self.entries.load(Ordering::Relaxed) + 64 {
            clock.retain(|entry| entry.shelf.strong_count() > 0);
        }
        // In one round every bit is taken back, in the next every item could go.
        for _ in 0..2 * clock.len() {
            if self.bytes.load(Ordering::Relaxed) <= self.budget {
                break;
            }
            let Some(entry) = clock.pop_front() else { break };
            let Some(shelf) = entry.shelf.upgrade() else { continue };
            match shelf.was_used(entry.index) {
                true => clock.push_back(entry),
                false => {
                    let bytes = shelf.evict(entry.index);
                    self.evictions.fetch_add(1, Ordering::Relaxed);
                    self.forget(1, bytes);
                }
            }
        }
    }

    fn forget(&self, entries: usize, bytes: usize) {
        self.entries.fetch_sub(entries, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// The items of one opened part of an index, by their numbers.
pub(crate) struct Shelf<T: Cached> {
    cache: Arc<IndexCache>,
    slots: Box<[Slot<T>]>,
}

struct Slot<T> {
    item: ArcSwapOption<T>,
    /// Set by every use, taken back by the clock.
    used: AtomicBool,
    /// Held while the item is loaded.
    loading: Mutex<()>,
}

impl<T: Cached> fmt::Debug for Shelf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shelf({} slots)", self.slots.len())
    }
}

/// An item of a cache, which lives at least as long as this.
pub(crate) struct Item<T>(Guard<Option<Arc<T>>>);

impl<T: fmt::Debug> fmt::Debug for Item<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T> Deref for Item<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.0.as_deref().expect("made only of items that are there")
    }
}

impl<T: Cached> Shelf<T> {
    /// A shelf for items `0..len`, none of which is there yet.
    pub(crate) fn new(cache: Arc<IndexCache>, len: usize) -> Arc<Self> {
        let slot =
            || Slot { item: ArcSwapOption::empty(), used: AtomicBool::new(false), loading: Mutex::new(()) };
        let mut slots = Vec::with_capacity(len);
        slots.resize_with(len, slot);
        Arc::new(Shelf { cache, slots: slots.into() })
    }

    /// Item `index`, which `load` makes if it is not there.
    ///
    /// # Errors
    /// That of `load`; it is asked again the next time.
    ///
    /// # Panics
    /// If there is no such slot.
    #[inline]
    pub(crate) fn get<E>(
        self: &Arc<Self>,
        index: usize,
        load: impl FnOnce() -> Result<T, E>,
    ) -> Result<Item<T>, E> {
        let slot = &self.slots[index];
        let item = slot.item.load();
        if item.is_some() {
            self.hit(slot);
            return Ok(Item(item));
        }
        self.load(index, load)
    }

    #[inline]
    fn hit(&self, slot: &Slot<T>) {
        if !slot.used.load(Ordering::Relaxed) {
            slot.used.store(true, Ordering::Relaxed);
        }
        self.cache.hits.add();
    }

    #[cold]
    fn load<E>(self: &Arc<Self>, index: usize, load: impl FnOnce() -> Result<T, E>) -> Result<Item<T>, E> {
        let slot = &self.slots[index];
        let _one_at_a_time = slot.loading.lock().unwrap_or_else(PoisonError::into_inner);
        let item = slot.item.load();
        if item.is_some() {
            self.hit(slot);
            return Ok(Item(item));
        }
        drop(item);
        self.cache.misses.fetch_add(1, Ordering::Relaxed);
        let item = Arc::new(load()?);
        let bytes = item.bytes();
        slot.used.store(false, Ordering::Relaxed);
        slot.item.store(Some(item.clone()));
        let shelf: Weak<Self> = Arc::downgrade(self);
        self.cache.insert(Entry { shelf, index }, bytes);
        Ok(Item(Guard::from_inner(Some(item))))
    }
}

impl<T: Cached> Evict for Shelf<T> {
    fn was_used(&self, index: usize) -> bool {
        self.slots[index].used.swap(false, Ordering::Relaxed)
    }

    fn evict(&self, index: usize) -> usize {
        // The item and what it takes go in one step: another thread may put the next one there at once.
        self.slots[index].item.swap(None).map_or(0, |item| item.bytes())
    }
}

impl<T: Cached> Drop for Shelf<T> {
    fn drop(&mut self) {
        let held = self.slots.iter().filter_map(|slot| slot.item.load_full());
        let (entries, bytes) =
            held.fold((0, 0), |(entries, bytes), item| (entries + 1, bytes + item.bytes()));
        self.cache.forget(entries, bytes);
    }
}

/// A counter to which threads add without getting in each other's way.
#[derive(Debug, Default)]
struct Hits([Line; 16]);

/// Two cache lines, which processors like to fetch together.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Line(AtomicU64);

impl Hits {
    #[inline]
    fn add(&self) {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        thread_local! {
            static OWN: Cell<usize> = const { Cell::new(usize::MAX) };
        }
        let own = OWN.with(|own| {
            if own.get() == usize::MAX {
                own.set(THREADS.fetch_add(1, Ordering::Relaxed) % 16);
            }
            own.get()
        });
        self.0[own].0.fetch_add(1, Ordering::Relaxed);
    }

    fn sum(&self) -> u64 {
        self.0.iter().map(|line| line.0.load(Ordering::Relaxed)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{convert::Infallible, thread};

    impl Cached for Vec<u8> {
        fn bytes(&self) -> usize {
            self.len()
        }
    }

    fn get(shelf: &Arc<Shelf<Vec<u8>>>, index: usize) -> Item<Vec<u8>> {
        let item = shelf.get(index, || Ok::<_, Infallible>(vec![index as u8; 100]));
        item.unwrap_or_else(|error| match error {})
    }

    fn counts(cache: &IndexCache) -> (usize, usize, u64, u64, u64) {
        let CacheUsage { bytes, entries, hits, misses, evictions, .. } = cache.usage();
        (bytes, entries, hits, misses, evictions)
    }

    #[test]
    fn what_is_used_stays() {
        let cache = IndexCache::new(300);
        let shelf = Shelf::new(cache.clone(), 8);
        for index in [0, 1, 2, 0, 0] {
            assert_eq!(get(&shelf, index)[..], [index as u8; 100]);
        }
        assert_eq!(counts(&cache), (300, 3, 2, 3, 0));
        // The first was used again, the second goes.
        get(&shelf, 3);
        assert_eq!(counts(&cache), (300, 3, 2, 4, 1));
        get(&shelf, 0);
        assert_eq!(counts(&cache), (300, 3, 3, 4, 1));
        get(&shelf, 1);
        assert_eq!(counts(&cache), (300, 3, 3, 5, 2));
    }

    #[test]
    fn evicted_items_live_on_in_use() {
        let cache = IndexCache::new(0);
        let shelf = Shelf::new(cache.clone(), 2);
        let item = get(&shelf, 1);
        assert_eq!((item[99], counts(&cache)), (1, (0, 0, 0, 1, 1)));
        get(&shelf, 0);
        assert_eq!(item[99], 1);
    }

    #[test]
    fn shelves_take_their_items_along() {
        let cache = IndexCache::new(usize::MAX);
        for _ in 0..1000 {
            let shelf = Shelf::new(cache.clone(), 4);
            get(&shelf, 3);
            assert_eq!(cache.usage().bytes, 100);
        }
        assert_eq!(counts(&cache), (0, 0, 0, 1000, 0));
        assert!(cache.clock.lock().unwrap().len() < 100, "entries of shelves that are gone");
    }

    #[test]
    fn a_failed_load_is_tried_again() {
        let shelf = Shelf::<Vec<u8>>::new(IndexCache::new(100), 1);
        assert_eq!(shelf.get(0, || Err("damaged")).err(), Some("damaged"));
        assert_eq!(shelf.get(0, || Ok::<_, &str>(vec![7])).unwrap()[..], [7]);
    }

    #[test]
    fn threads_load_an_item_once_and_share_the_budget() {
        for (budget, loads) in [(usize::MAX, 64), (1000, u64::MAX)] {
            let cache = IndexCache::new(budget);
            let shelf = Shelf::new(cache.clone(), 64);
            thread::scope(|scope| {
                for thread in 0..4 {
                    let shelf = &shelf;
                    scope.spawn(move || {
                        for i in 0..4000 {
                            let index = (i * (2 * thread + 1) + i / 64) % 64;
                            assert_eq!(get(shelf, index)[..], [index as u8; 100]);
                        }
                    });
                }
            });
            let usage = cache.usage();
            assert_eq!(usage.hits + usage.misses, 16_000);
            assert!(usage.misses <= loads && usage.misses >= 64);
            assert_eq!(usage.misses - usage.evictions, usage.entries as u64);
            assert_eq!(usage.bytes, usage.entries * 100);
            assert!(usage.bytes <= budget);
        }
    }
}
