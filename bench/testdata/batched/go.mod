module batched

go 1.26
