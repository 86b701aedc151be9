package main

import (
	"fmt"
	"sync"
)

// load hands out requests and counts how they end. Goroutines run one at a time, but may be interrupted anywhere.
type load struct {
	lock       sync.Mutex
	started    int
	ended      int
	warmUp     int
	total      int
	pace       *pace
	requests   int
	errors     int
	bytes      int
	status     [600]int
	latency    histogram
	firstError error
	from, to   usage
}

// pace has the due times of an open loop.
type pace struct {
	first int64
	rate  float64
	tick  int64 // nanoseconds between sends; 0: each request is sent at its own time
}

func (pace *pace) due(number int) int64 {
	return pace.first + int64(float64(number)*1e9/pace.rate)
}

func (pace *pace) departure(number int) int64 {
	due := pace.due(number)
	if pace.tick == 0 || (due-pace.first)%pace.tick == 0 {
		return due
	}
	return due + pace.tick - (due-pace.first)%pace.tick
}

func newLoad(arguments *arguments) *load {
	load := &load{warmUp: arguments.warmUp, total: arguments.warmUp + arguments.requests, from: readUsage()}
	if arguments.rate > 0 {
		load.pace = &pace{first: now(), rate: arguments.rate, tick: arguments.tick}
	}
	return load
}

// begin returns when the latency of the next request begins; false after the last request.
func (load *load) begin() (int64, bool) {
	load.lock.Lock()
	defer load.lock.Unlock()
	if load.started == load.total {
		return 0, false
	}
	load.started++
	if load.pace != nil {
		return load.pace.due(load.started - 1), true
	}
	return now(), true
}

// departure returns when the next request of an open loop is to be sent; false after the last request.
func (load *load) departure() (int64, bool) {
	load.lock.Lock()
	defer load.lock.Unlock()
	return load.pace.departure(load.started), load.started < load.total
}

func (load *load) end(began int64, status, bytes int, err error) {
	load.lock.Lock()
	defer load.lock.Unlock()
	load.ended++
	if load.ended > load.warmUp {
		load.count(began, status, bytes, err)
		if load.ended == load.total {
			load.to = readUsage()
		}
	} else if load.ended == load.warmUp {
		load.from = readUsage()
	}
}

func (load *load) count(began int64, status, bytes int, err error) {
	load.requests++
	if err == nil && (status < 0 || status >= len(load.status)) {
		err = fmt.Errorf("%d is not a status code", status)
	}
	if err != nil {
		load.errors++
		if load.firstError == nil {
			load.firstError = err
		}
		return
	}
	load.status[status]++
	load.bytes += bytes
	load.latency.record(uint64(now() - began))
}
