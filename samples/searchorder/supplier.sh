# supplier.sh SUPPLIER ITEM prints what a supplier has, as JSON. The one in the west
# is closed, the one in the east never answers.
case "$1/$2" in
east/*) exec sleep 600 ;;
north/bicycle) echo '[
  {"supplier": "north", "item": "city bicycle", "price": 420},
  {"supplier": "north", "item": "bicycle kit", "price": 250, "needs": "frame"},
  {"supplier": "north", "item": "racing bicycle", "price": 990},
  {"supplier": "north", "item": "bicycle without wheels", "price": 180, "needs": "wheels"}]' ;;
south/bicycle) echo '[
  {"supplier": "south", "item": "old bicycle", "price": 340},
  {"supplier": "south", "item": "new bicycle", "price": 510},
  {"supplier": "south", "item": "bicycle without saddle", "price": 290, "needs": "saddle"}]' ;;
north/frame) echo '[{"supplier": "north", "item": "frame", "price": 140}]' ;;
north/wheels) echo '[{"supplier": "north", "item": "wheels", "price": 130}]' ;;
south/saddle) echo '[{"supplier": "south", "item": "saddle", "price": 35}]' ;;
*)
	echo "supplier $1 is closed" >&2
	exit 1
	;;
esac
