//! The table of many-to-many kernels of one number type, and the checks that make them safe to call.

use core::ops::Range;

use super::many::KEPT;

/// The kernels of one instruction set for rows of `T`.
pub struct Kernels<T: 'static> {
    rows: usize,
    width: usize,
    lanes: usize,
    placed_rows: usize,
    group: usize,
    best: Best<T>,
    settle: unsafe fn(*mut T, usize, *mut [T; KEPT]),
    best_placed: BestPlaced<T>,
    scores: unsafe fn(*const T, *const T, usize, *const T, *mut T, *mut u64),
    squared_distance: unsafe fn(&[T], &[T]) -> f32,
    squared_distance_wide: unsafe fn(&[T], &[T]) -> f64,
    product_wide: unsafe fn(&[T], &[T]) -> f64,
    norm_bound: unsafe fn(&[T]) -> f64,
    move_rows: MoveRows<T>,
}

/// Rows, how many tiles of them, panel, dimension, whether it is the first, what is kept, and what will be read next.
type Best<T> = unsafe fn(*const T, usize, *const T, usize, bool, *mut T, *const u8, usize);

/// Rows, panel, its width, dimension, places, what is kept, and the largest scores.
type BestPlaced<T> = unsafe fn(*const T, *const T, usize, usize, *const u32, *mut T, *mut T);

/// Arithmetic of single vectors: squared distance in the type's precision and in f64, product in f64, bound of
/// the norm, sums of rows.
type Plain<T> = (
    unsafe fn(&[T], &[T]) -> f32,
    unsafe fn(&[T], &[T]) -> f64,
    unsafe fn(&[T], &[T]) -> f64,
    unsafe fn(&[T]) -> f64,
    MoveRows<T>,
);

/// Moves columns of rows between the sums of clusters.
type MoveRows<T> = unsafe fn(&mut [f64], &[T], usize, Range<usize>, &[u32], &[u32]);

impl<T> Kernels<T> {
    /// # Safety
    /// The functions are those of [`many`](super::many) and [`fixed`](super::fixed), for tiles of `rows` rows and
    /// `width` targets in registers of `lanes` items, for rows from different places of `placed_rows` rows and `group`
    /// targets, of which `width` is a multiple; and the table is used only where their instruction set is there.
    pub(crate) const unsafe fn new(
        [rows, width, lanes, placed_rows, group]: [usize; 5],
        best: Best<T>,
        settle: unsafe fn(*mut T, usize, *mut [T; KEPT]),
        best_placed: BestPlaced<T>,
        scores: unsafe fn(*const T, *const T, usize, *const T, *mut T, *mut u64),
        (squared_distance, squared_distance_wide, product_wide, norm_bound, move_rows): Plain<T>,
    ) -> Self {
        Kernels {
            rows,
            width,
            lanes,
            placed_rows,
            group,
            best,
            settle,
            best_placed,
            scores,
            squared_distance,
            squared_distance_wide,
            product_wide,
            norm_bound,
            move_rows,
        }
    }

    /// Rows of a tile.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Targets of a panel.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// What [`best`](Self::best) keeps of each row: bests, seconds, ids, each of [`lanes`](Self::lanes) items.
    pub(crate) fn kept(&self) -> usize {
        KEPT * self.lanes
    }

    /// Lanes of a register.
    pub(crate) fn lanes(&self) -> usize {
        self.lanes
    }

    /// Rows of a tile of rows from different places.
    pub(crate) fn placed_rows(&self) -> usize {
        self.placed_rows
    }

    /// Targets that such a tile meets at once: a panel is one such group or several.
    pub(crate) fn group(&self) -> usize {
        self.group
    }

    fn check(&self, rows: &[T], panel: &[T], dim: usize) {
        assert!(dim > 0 && rows.len() == self.rows * dim && panel.len() == self.width * (dim + 2));
    }

    /// Lets tiles of rows meet a panel; `kept` has [`kept`](Self::kept) items for each row, which with `first` are
    /// written anew. With each tile, `lines` lines of the cache are asked for from `ahead` on, which may be any
    /// address.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn best(
        &self,
        rows: &[T],
        panel: &[T],
        dim: usize,
        first: bool,
        kept: &mut [T],
        ahead: *const u8,
        lines: usize,
    ) {
        assert!(
            dim > 0 && rows.len().is_multiple_of(self.rows * dim) && panel.len() == self.width * (dim + 2)
        );
        let tiles = rows.len() / (self.rows * dim);
        assert!(kept.len() == tiles * self.rows * self.kept());
        // SAFETY: the table is handed out where its instruction set is there; lengths were checked.
        unsafe {
            let (rows, panel) = (rows.as_ptr(), panel.as_ptr());
            (self.best)(rows, tiles, panel, dim, first, kept.as_mut_ptr(), ahead, lines);
        }
    }

    /// Best score, second score and id of the best of at most [`lanes`](Self::lanes) rows, from what was kept.
    pub(crate) fn settle(&self, kept: &mut [T], out: &mut [[T; KEPT]]) {
        assert!(kept.len() == out.len() * self.kept() && (1..=self.lanes).contains(&out.len()));
        // SAFETY: as above.
        unsafe { (self.settle)(kept.as_mut_ptr(), out.len(), out.as_mut_ptr()) }
    }

    /// Lets a tile of [`placed_rows`](Self::placed_rows) rows meet one [`group`](Self::group) of a panel, what is kept of
    /// each being at its place, and writes the largest score of each.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn best_placed(
        &self,
        rows: &[T],
        panel: &[T],
        group: usize,
        dim: usize,
        places: &[u32],
        kept: &mut [T],
        largest: &mut [T],
    ) {
        assert!(dim > 0 && rows.len() == self.placed_rows * dim && panel.len() == self.width * (dim + 2));
        assert!(group < self.width / self.group);
        assert!(places.len() == self.placed_rows && largest.len() == self.placed_rows);
        let room = kept.len() / self.kept();
        assert!(places.iter().all(|&place| (place as usize) < room));
        // SAFETY: as above; the group is within the panel.
        unsafe {
            (self.best_placed)(
                rows.as_ptr(),
                panel.as_ptr().add(group * self.group),
                self.width,
                dim,
                places.as_ptr(),
                kept.as_mut_ptr(),
                largest.as_mut_ptr(),
            );
        }
    }

    /// Writes the scores of a tile of rows and a panel, [`width`](Self::width) for each row, and for each row the
    /// bits of those targets whose score is at least its bound.
    pub(crate) fn scores(
        &self,
        rows: &[T],
        panel: &[T],
        dim: usize,
        bounds: &[T],
        out: &mut [T],
        reached: &mut [u64],
    ) {
        self.check(rows, panel, dim);
        assert!(bounds.len() == self.rows && reached.len() == self.rows);
        assert!(out.len() == self.rows * self.width);
        // SAFETY: as above.
        unsafe {
            (self.scores)(
                rows.as_ptr(),
                panel.as_ptr(),
                dim,
                bounds.as_ptr(),
                out.as_mut_ptr(),
                reached.as_mut_ptr(),
            )
        }
    }

    /// Σ (a − b)²: of f32 in f32, of f64 in f64 and then rounded. The same bits from every instruction set.
    pub(crate) fn squared_distance(&self, a: &[T], b: &[T]) -> f32 {
        // SAFETY: the table is handed out where its instruction set is there.
        unsafe { (self.squared_distance)(a, b) }
    }

    /// Σ (a − b)² in f64. The same bits from every instruction set.
    pub(crate) fn squared_distance_wide(&self, a: &[T], b: &[T]) -> f64 {
        // SAFETY: as above.
        unsafe { (self.squared_distance_wide)(a, b) }
    }

    /// Σ a · b in f64. The same bits from every instruction set.
    pub(crate) fn product_wide(&self, a: &[T], b: &[T]) -> f64 {
        // SAFETY: as above.
        unsafe { (self.product_wide)(a, b) }
    }

    /// The norm, or a little more; not finite if and only if the norm is not.
    pub(crate) fn norm_bound(&self, row: &[T]) -> f64 {
        // SAFETY: as above.
        unsafe { (self.norm_bound)(row) }
    }

    /// Adds the elements `columns` of the rows whose cluster is another than before to the sums of their clusters, and
    /// takes them off those of the clusters before. Sums have as many items for each cluster as there are columns.
    pub(crate) fn move_rows(
        &self,
        sums: &mut [f64],
        rows: &[T],
        dim: usize,
        columns: Range<usize>,
        before: &[u32],
        clusters: &[u32],
    ) {
        // SAFETY: as above.
        unsafe { (self.move_rows)(sums, rows, dim, columns, before, clusters) }
    }
}

/// What an instruction set calls: defines `table`, which makes the [`Kernels`] of tiles of `R` rows and `N`
/// registers of `V`, compiled with the features `$feature`.
macro_rules! entry_points {
    ($($feature:literal)?) => {
        use $crate::arch::all::{
            fixed::{self, Real},
            many::{self, KEPT, Vector},
            many_kernels::Kernels,
        };

        /// # Safety
        /// The instruction set is there, and what [`many::best`] asks.
        #[allow(clippy::too_many_arguments)]
        $(#[target_feature(enable = $feature)])?
        unsafe fn best<V: Vector<Item: Real>, const R: usize, const N: usize>(
            rows: *const V::Item,
            tiles: usize,
            panel: *const V::Item,
            dim: usize,
            first: bool,
            kept: *mut V::Item,
            ahead: *const u8,
            lines: usize,
        ) {
            // SAFETY: the caller's promise.
            unsafe { many::best::<V, R, N>(rows, tiles, panel, dim, first, kept, ahead, lines) }
        }

        /// # Safety
        /// The instruction set is there, and what [`many::settle`] asks.
        $(#[target_feature(enable = $feature)])?
        unsafe fn settle<V: Vector>(kept: *mut V::Item, rows: usize, out: *mut [V::Item; KEPT]) {
            // SAFETY: the caller's promise.
            unsafe { many::settle::<V>(kept, rows, out) }
        }

        /// # Safety
        /// The instruction set is there, and what [`many::best_placed`] asks.
        $(#[target_feature(enable = $feature)])?
        unsafe fn best_placed<V: Vector<Item: Real>, const R: usize, const N: usize>(
            rows: *const V::Item,
            panel: *const V::Item,
            width: usize,
            dim: usize,
            places: *const u32,
            kept: *mut V::Item,
            largest: *mut V::Item,
        ) {
            // SAFETY: the caller's promise.
            unsafe { many::best_placed::<V, R, N>(rows, panel, width, dim, places, kept, largest) }
        }

        /// # Safety
        /// The instruction set is there, and what [`many::scores`] asks.
        $(#[target_feature(enable = $feature)])?
        unsafe fn scores<V: Vector, const R: usize, const N: usize>(
            rows: *const V::Item,
            panel: *const V::Item,
            dim: usize,
            bounds: *const V::Item,
            out: *mut V::Item,
            reached: *mut u64,
        ) {
            // SAFETY: the caller's promise.
            unsafe { many::scores::<V, R, N>(rows, panel, dim, bounds, out, reached) }
        }

        $(#[target_feature(enable = $feature)])?
        fn squared_distance<T: Real>(a: &[T], b: &[T]) -> f32 {
            T::squared_distance(a, b)
        }

        $(#[target_feature(enable = $feature)])?
        fn squared_distance_wide<T: Real>(a: &[T], b: &[T]) -> f64 {
            fixed::squared_distance_wide(a, b)
        }

        $(#[target_feature(enable = $feature)])?
        fn product_wide<T: Real>(a: &[T], b: &[T]) -> f64 {
            fixed::product_wide(a, b)
        }

        $(#[target_feature(enable = $feature)])?
        fn norm_bound<T: Real>(row: &[T]) -> f64 {
            T::norm_bound(row)
        }

        $(#[target_feature(enable = $feature)])?
        fn move_rows<T: Real>(
            sums: &mut [f64],
            rows: &[T],
            dim: usize,
            columns: core::ops::Range<usize>,
            before: &[u32],
            clusters: &[u32],
        ) {
            fixed::move_rows(sums, rows, dim, columns, before, clusters)
        }

        /// Tiles of `R` rows and `N` registers of targets, of rows from different places `P` and `G`.
        const fn table<
            V: Vector<Item: Real>,
            const R: usize,
            const N: usize,
            const P: usize,
            const G: usize,
        >() -> Kernels<V::Item> {
            const { assert!(N * V::LANES <= 64 && N % G == 0 && P <= many::MOST) };
            // SAFETY: the kernels are for tiles of these shapes, and this module's tables are only handed out where
            // its instruction set is there.
            unsafe {
                Kernels::new(
                    [R, N * V::LANES, V::LANES, P, G * V::LANES],
                    best::<V, R, N>,
                    settle::<V>,
                    best_placed::<V, P, G>,
                    scores::<V, R, N>,
                    (squared_distance, squared_distance_wide, product_wide, norm_bound, move_rows),
                )
            }
        }
    };
}
pub(crate) use entry_points;
