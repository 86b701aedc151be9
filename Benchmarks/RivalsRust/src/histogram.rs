//! Latencies in nanoseconds, as Core/support/histogram.c counts them: 128 steps a power of two, so that a percentile
//! is at most 0.8 % off.

const STEPS: u64 = 128;
const CELLS: usize = 128 * 40;

pub struct Histogram {
    pub count: u64,
    pub sum: u64,
    pub min: u64,
    pub max: u64,
    cells: Vec<u64>,
}

impl Histogram {
    pub fn new() -> Histogram {
        Histogram { count: 0, sum: 0, min: u64::MAX, max: 0, cells: vec![0; CELLS] }
    }

    pub fn record(&mut self, nanoseconds: u64) {
        self.count += 1;
        self.sum += nanoseconds;
        self.min = self.min.min(nanoseconds);
        self.max = self.max.max(nanoseconds);
        self.cells[cell_of(nanoseconds)] += 1;
    }

    /// The largest value of the cell that holds the quantile (0 to 1), never above the maximum.
    pub fn quantile(&self, quantile: f64) -> u64 {
        if self.count == 0 {
            return 0;
        }
        let wanted = ((quantile * self.count as f64 + 0.5) as u64).max(1);
        let mut seen = 0;
        for (cell, count) in self.cells.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return top_of(cell as u64).min(self.max);
            }
        }
        self.max
    }
}

fn cell_of(value: u64) -> usize {
    if value < 2 * STEPS {
        return value as usize;
    }
    let shift = u64::from(63 - value.leading_zeros() - 7);
    ((shift * STEPS + (value >> shift)) as usize).min(CELLS - 1)
}

fn top_of(cell: u64) -> u64 {
    if cell < 2 * STEPS {
        return cell;
    }
    let shift = cell / STEPS - 1;
    ((cell % STEPS + STEPS + 1) << shift) - 1
}
