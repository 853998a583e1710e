// Package xpath selects events of an Event-Stream by XPath 1.0.
//
//	e, err := xpath.Select(s, "./Event[@id=$id and @status='inprocess']",
//		xpath.Vars{"id": id})
//
// A relative path starts at the element <EventStream>, an absolute one at the
// document. The query sees the document as it stands, superseded events included.
// Nodes come in the order of the document, each once.
//
// # Variables
//
// A variable, $name, is bound to a value by [Vars]. Whatever quotes or brackets the
// value has, it is compared as a value and cannot change the query.
//
// # What it costs
//
// A path that begins ./Event[…] or /EventStream/Event[…] and asks there for @id or
// @status to equal a string is answered from the index of the stream. What else
// the path asks is then evaluated for those events alone:
//
//	./Event[@id='01.00']
//	./Event[@status='init' and @topic=$topic][not(@due)][1]
//	./Event['aborted'=@status]/Attempt[last()]/@error
//
// Everything else is evaluated by the engine, github.com/antchfx/xpath, which
// walks the document. No tree of the document is built. What stands inside an event
// is read only if the query goes there, as //Event does and ./Event does not. Each
// move is counted, and an evaluation that takes more moves than [Options] allow
// ends with ErrBudget; so does one whose context ends, with the context's error.
//
// # What is supported
//
// The grammar of XPath 1.0, all axes but namespace::, and these functions:
// boolean ceiling concat contains count false floor last local-name name
// normalize-space not number position round starts-with string string-length
// substring substring-after substring-before sum translate true.
//
// Names are compared as they are written; namespaces are not resolved, and their
// declarations are no attributes.
//
// # What is refused
//
// What the engine gets wrong is evaluated here where that is simple, such as
// positions outside of predicates, and refused by ErrUnsupported where it is not.
// The error has the column and what to write instead. Refused everywhere are
//
//   - id(), lang(), namespace-uri(), processing-instruction(), namespace::,
//     ancestor-or-self::node(), names with a prefix other than xml
//   - functions of XPath 2.0, which the engine has: matches(), lower-case() …
//   - a second argument of substring-before() and substring-after() that is not a
//     literal or a variable, or is empty
//   - a position on the axis preceding::
//
// and inside predicates and as the operand of a comparison
//
//   - positions but [n], [last()] and tests of position() and last() with numbers;
//     these anywhere but in the first predicate; these on other axes than child::,
//     save [n] among siblings
//   - parentheses around a path that goes on or has a predicate; unions, but where
//     it is only asked whether they have a node; sum()
//   - string(), number(), name() of nodes that the engine may find out of order,
//     such as preceding-sibling::*, and count() of nodes that it may find several
//     times, such as Input/..
//   - text made of a path with a predicate where a relative path follows in the
//     same function or comparison, such as concat(Attempt[@n=1], @id)
//
// # Where a result may differ from XPath 1.0
//
// Text that is taken for a number inside a predicate is read as Go reads it: 1e3,
// 0x10 and inf are numbers there. normalize-space() takes all white space of
// Unicode for white space. substring(x, -1 div 0) is empty.
package xpath
