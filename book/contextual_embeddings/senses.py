"""English sentences about words of two meanings, for encoders that were trained on English."""

_SENTENCES = {
    "bank": (
        "my bank pays no interest on savings|the bank closed two of its branches|"
        "ask the bank for a new credit card|her salary goes straight to the bank|"
        "the bank lent them money for the house|a clerk at the bank counted the notes",
        "ducks sleep on the bank of the pond|we pulled the canoe up the bank|"
        "willows lean over the bank of the stream|the flood washed away part of the bank|"
        "he fished all day from the bank|the bank was slippery with mud",
    ),
    "bat": (
        "he swung the bat and missed the ball|the batter dropped his bat and ran|"
        "she hit a home run with an old bat|the bat broke on the second pitch|"
        "a bat made of ash wood is light|the coach leaned on his bat",
        "a bat hung from the roof of the cave|the bat finds insects by echo|"
        "the bat folded its wings and slept|at dusk a bat flew past the barn|"
        "a bat is a mammal that can fly|a bat feeds its young with milk",
    ),
    "spring": (
        "in spring the cherry trees blossom|the swallows come back in spring|"
        "spring was late and cold this year|the farmer sows oats in early spring|"
        "after a long winter spring arrived|the lambs are born in spring",
        "the spring in this pen is too weak|a steel spring closes the door|"
        "the mattress has a broken spring|stretch the spring and measure the force|"
        "the mechanic replaced a spring in the car|a coiled spring drives the old watch",
    ),
    "crane": (
        "the crane lifted a block of concrete|a crane stood beside the new tower|"
        "the driver of the crane stopped for lunch|the crane unloads the ships in the port|"
        "cables hang from the arm of the crane|they need a crane to set the roof beams",
        "the crane stood on one leg in the marsh|a crane caught a frog in the reeds|"
        "every autumn the crane flies south|the crane guards two eggs in its nest|"
        "the cry of the crane is heard for miles|a grey crane walked through the meadow",
    ),
    "match": (
        "the match ended without a goal|she won her first tennis match|"
        "rain stopped the match for an hour|thousands came to watch the match|"
        "the referee blew his whistle and the match began|they lost the match in extra time",
        "he lit the candle with a match|strike a match and hold it to the wood|"
        "the match burned her fingers|one match was left in the box|"
        "a wet match gives no flame|the smell of a burnt match filled the room",
    ),
    "light": (
        "a light tent is easy to carry|this bicycle is light but strong|"
        "feathers are light|the suitcase was light because it was empty|"
        "she prefers light shoes for running|the light box floated on the water",
        "turn off the light before you leave|the light of the lamp fell on the book|"
        "a red light flashed on the wall|plants grow towards the light|"
        "light came through the curtains|the light in the hall is broken",
    ),
    "rock": (
        "a rock rolled down the hill|the climber found a crack in the rock|"
        "waves broke against the rock|the rock contains traces of iron|"
        "she sat on a flat rock by the lake|they split the rock with a hammer",
        "he plays the drums in a rock band|she prefers rock to jazz|"
        "the radio plays rock all night|rock made the electric guitar famous|"
        "the rock concert was sold out|they danced to loud rock",
    ),
    "club": (
        "our chess club meets on thursdays|she joined the club as a student|"
        "the club elects its president in may|only members of the club may enter|"
        "the sailing club bought a boat|he founded a club for young poets",
        "the giant carried a wooden club|he threatened the thief with a club|"
        "she chose a golf club from the bag|the hunter killed the snake with a club|"
        "a blow of the club broke the shield|the golfer swung his club too early",
    ),
}

# Eight words, and six sentences about each of their two meanings, in which they occur once.
SENSES = {
    word: tuple(tuple(sentences.split("|")) for sentences in both)
    for word, both in _SENTENCES.items()
}
