module errand/rivals

go 1.19
