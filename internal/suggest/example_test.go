package suggest_test

import (
	"fmt"

	"riffle/internal/suggest"
)

func ExampleOr() {
	names := []string{"standard52", "standard54", "tarot78"}
	fmt.Println(suggest.Or("standart52", names, "see GET /decks"))
	fmt.Println(suggest.Or("chess", names, "see GET /decks"))
	// Output:
	// did you mean standard52?
	// see GET /decks
}

func ExampleMask() {
	fmt.Println(suggest.Mask(`unknown token "rfl_D7oWQgFLLiDabZzwQLMy5ovJgYvl"`))
	// Output:
	// unknown token "rfl_..."
}
