package main

import "math/bits"

const (
	steps = 128
	cells = steps * 40
)

// histogram counts latencies in nanoseconds as Core/support/histogram.c does: 128 steps a power of two, so that a
// percentile is at most 0.8 % off.
type histogram struct {
	count, sum, min, max uint64
	cells                [cells]uint64
}

func (histogram *histogram) record(nanoseconds uint64) {
	if histogram.count == 0 || nanoseconds < histogram.min {
		histogram.min = nanoseconds
	}
	if nanoseconds > histogram.max {
		histogram.max = nanoseconds
	}
	histogram.count++
	histogram.sum += nanoseconds
	histogram.cells[cellOf(nanoseconds)]++
}

// quantile returns the largest value of the cell that holds the quantile (0 to 1), never above the maximum.
func (histogram *histogram) quantile(quantile float64) uint64 {
	if histogram.count == 0 {
		return 0
	}
	wanted, seen := uint64(quantile*float64(histogram.count)+0.5), uint64(0)
	if wanted < 1 {
		wanted = 1
	}
	for cell, count := range histogram.cells {
		seen += count
		if seen >= wanted {
			if top := topOf(uint64(cell)); top < histogram.max {
				return top
			}
			break
		}
	}
	return histogram.max
}

func cellOf(value uint64) uint64 {
	if value < 2*steps {
		return value
	}
	shift := uint64(63 - bits.LeadingZeros64(value) - 7)
	if cell := shift*steps + value>>shift; cell < cells {
		return cell
	}
	return cells - 1
}

func topOf(cell uint64) uint64 {
	if cell < 2*steps {
		return cell
	}
	return (cell%steps+steps+1)<<(cell/steps-1) - 1
}
