"""What the demo's speakers say: neutral everyday sentences, different ones for training and for testing.

Conventions
-----------
A sentence takes Praat's synthesiser two to four seconds at a usual rate. Its words say nothing about the
emotion in which it is spoken, so that a model can only go by the voice.
"""

from __future__ import annotations

TRAIN = (
    "The bus to the market leaves at eight.",
    "We moved the table next to the window.",
    "Her brother works in a bakery near here.",
    "The letter is lying on the kitchen shelf.",
    "They painted the garden fence last week.",
    "I put the blue folder back in the drawer.",
    "The library opens at nine on Mondays.",
    "He takes the stairs to the third floor.",
    "My neighbour bought a second bicycle.",
    "The meeting was moved to room twelve.",
    "There are four apples left in the basket.",
    "She carries her lunch in a paper bag.",
    "The road behind the school is very long.",
    "We count the boxes before the truck comes.",
    "Someone left an umbrella at the counter.",
    "The water in the kettle is almost warm.",
    "They talked about the plan for tomorrow.",
    "He sent the photographs on Thursday evening.",
    "The carpet in the hall is green and grey.",
    "I read the second page of the newspaper.",
    "Our train goes through a tunnel here.",
    "The shop around the corner sells stamps.",
    "You can hang your coat behind the door.",
    "The clock in the office is a minute slow.",
)

TEST = (
    "The ferry reaches the island before noon.",
    "We keep the spare keys in a wooden bowl.",
    "Her sister studies maps and old coins.",
    "The parcel was waiting at the front desk.",
    "They planted two rows of beans in spring.",
    "I wrote the number on the back of a card.",
    "The museum is closed for the afternoon.",
    "He walks along the river to his office.",
    "My cousin repaired the radio at home.",
    "The lesson starts in a quarter of an hour.",
    "There is a cup of tea beside the lamp.",
    "She folded the towels after breakfast.",
    "The bridge was built out of yellow stone.",
    "We wait for the others at the corner.",
    "Somebody parked a van in front of the gate.",
    "The soup on the stove needs some salt.",
    "They spoke about the weather in the north.",
    "He returned the books on Wednesday morning.",
    "The curtains in the bedroom are light brown.",
    "I changed the batteries of the small torch.",
    "Our street has a bench and a fountain.",
    "The farmer next door keeps seven hens.",
    "You will find the paper under the printer.",
    "The lift stops at every second floor.",
    "She asked for a ticket to the harbour.",
    "The plates are stacked beside the sink.",
    "A man in a grey jacket opened the window.",
    "We bought bread and a bottle of milk.",
)

SPLITS = {"train": TRAIN, "test": TEST}
