package main

import "fmt"

// item is the value of typed requests, as Item.sample of the Swift rivals: 990 bytes as JSON.
type item struct {
	ID      int      `json:"id"`
	Name    string   `json:"name"`
	Active  bool     `json:"active"`
	Price   float64  `json:"price"`
	Tags    []string `json:"tags"`
	Address address  `json:"address"`
	Items   []line   `json:"items"`
}

type address struct {
	Street  string `json:"street"`
	City    string `json:"city"`
	Zip     string `json:"zip"`
	Country string `json:"country"`
}

type line struct {
	SKU   string  `json:"sku"`
	Count int     `json:"count"`
	Price float64 `json:"price"`
}

func sampleItem() *item {
	sample := &item{
		ID: 7, Name: "A folding table of oiled beech for six guests, delivered in one piece to a place of your choice",
		Active: true, Price: 12.5,
		Tags: []string{"furniture-and-rooms", "kitchen-and-dining", "solid-wood", "beech", "folding-tables", "indoor",
			"oiled", "in-stock"},
		Address: address{"12 Long Meadow Lane", "Market Harborough", "LE16 7AB", "United Kingdom"},
	}
	for number := 1; number <= 8; number++ {
		sku := fmt.Sprintf("folding-table-of-oiled-beech-part-0%d-of-08", number)
		sample.Items = append(sample.Items, line{sku, number, float64(number) + 0.25})
	}
	return sample
}
