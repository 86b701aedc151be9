package main

import (
	"encoding/json"
	"os"
	"strconv"
)

var percentiles = []float64{0, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 92.5, 95, 97.5, 98, 99, 99.5, 99.9, 99.95,
	99.99, 100}

// printReport prints the results with the keys of `errand bench --json`.
func printReport(load *load, connections int) error {
	latency := &load.latency
	at := func(percentile float64) float64 {
		if percentile == 0 {
			return float64(latency.min) / 1e3
		}
		return float64(latency.quantile(percentile/100)) / 1e3
	}
	mean := 0.0
	if latency.count > 0 {
		mean = float64(latency.sum) / float64(latency.count) / 1e3
	}
	spectrum := [][2]float64{}
	for _, percentile := range percentiles {
		spectrum = append(spectrum, [2]float64{percentile, at(percentile)})
	}
	status := map[string]int{}
	for code, count := range load.status {
		if count > 0 {
			status[strconv.Itoa(code)] = count
		}
	}
	seconds := float64(load.to.time-load.from.time) / 1e9
	user, system := load.to.user-load.from.user, load.to.system-load.from.system
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"requests":                     load.requests,
		"errors":                       load.errors,
		"seconds":                      seconds,
		"requests_per_second":          float64(load.requests-load.errors) / seconds,
		"bytes_received":               load.bytes,
		"cpu_user_seconds":             user,
		"cpu_system_seconds":           system,
		"cpu_microseconds_per_request": (user + system) * 1e6 / float64(load.requests),
		"peak_resident_bytes":          peakResident(),
		"latency_microseconds": map[string]float64{
			"min": at(0), "mean": mean, "p50": at(50), "p90": at(90), "p99": at(99), "p999": at(99.9), "max": at(100),
		},
		"latency_spectrum": spectrum,
		"status":           status,
		"mode":             "go",
		"connections":      connections,
		"loops":            1,
	})
}
