"""What the heads of the real models are measured on, written for this book.

`halves` splits either collection into texts to choose heads on and texts to report on, so that
no head is judged on the texts that it was chosen by.
"""

__all__ = ["PASSAGES", "PRONOUN_PAIRS", "SENTENCE_PAIRS", "halves"]

PASSAGES = (
    "The baker opened her shop at six in the morning, and by seven the first loaves were gone. She "
    "had learned the trade from her grandfather, who never wrote down a recipe in his life and "
    "still baked the same bread every day.",
    "Water boils at a lower temperature on a mountain than at the coast, because the air above "
    "presses less. A cook who lives high up therefore has to keep the potatoes in the pot for "
    "longer, although the water is bubbling.",
    "Dear neighbours, the lift will be out of order on Thursday from nine to four. Please use the "
    "stairs on the north side. If you need help with shopping bags or a pram, ring at the second "
    "floor and we will carry them up.",
    "def area(width, height):\n    if width < 0 or height < 0:\n        raise ValueError('sides "
    "must not be negative')\n    return width * height\n\nprint(area(3, 4))\nprint(area(5, 6))\n",
    "Nobody had expected the small team to win. They had lost four of their last five games, their "
    "captain was ill, and the other side had not been beaten at home for two years. But on that "
    "evening everything went their way.",
    "A violin has four strings, and a guitar has six. Both are made of wood, and in both the body "
    "makes the sound louder. The violin is played with a bow and held under the chin, while the "
    "guitar rests on the knee.",
    "“Where did you leave the keys?” asked Martin. “On the table, where they always are,” said "
    "Anna. Martin looked at the table. There was a newspaper, a cup and a pair of glasses, but "
    "there were no keys.",
    "The committee met on Monday to discuss the new bridge. The engineers wanted steel, the "
    "architects wanted stone, and the treasurer wanted to know why anybody needed a bridge when "
    "the ferry had run for a hundred years.",
    "Bees tell each other where to find flowers. A bee that has come home dances on the comb, and "
    "the direction of her dance shows the angle between the flowers and the sun. The longer she "
    "dances, the farther the others have to fly.",
    "To reset the clock, press both buttons and hold them for three seconds. The display begins to "
    "blink. Press the left button until the hour is right, then the right button until the "
    "minutes are right, and wait.",
    "Our train stopped between two stations, and for an hour nothing happened. Then the conductor "
    "came through the carriage and told every passenger in turn that a cow was standing on the "
    "line and that it did not want to leave.",
    "Ingredients: 200 g flour, 100 g sugar, 100 g butter, 2 eggs, 1 lemon. Mix the flour and the "
    "sugar, add the butter and the eggs, and stir until the dough is smooth. Bake for 25 minutes "
    "at 180 degrees.",
    "The word “salary” is older than money paid by the month. It comes from Latin, like the word "
    "“salt”, and many stories are told about how the two belong together. Not all of the stories "
    "are true.",
    "When the museum bought the painting, it was almost black. It took a restorer two years to "
    "remove the old varnish, and under it appeared a blue sky, a river and, in the corner, the "
    "painter himself in a red coat.",
    "Every autumn the leaves of the maple turn red before they fall. The tree takes back what it "
    "can use, above all the green pigment, and what is left in the leaf is red and yellow. In "
    "spring new leaves are green again.",
    "I would like to return the lamp that I ordered on the third of May. It arrived on time, but "
    "the shade is broken and one screw is missing. Please tell me whether you can send another "
    "one or give me my money back.",
)

SENTENCE_PAIRS = (
    ("A dog runs along the beach.", "An animal is running by the sea."),
    ("A dog sleeps under the table.", "The puppy is having a rest below the desk."),
    ("The train was an hour late.", "We had to wait sixty minutes at the station."),
    ("The train was full of people.", "There was no empty seat in any carriage."),
    ("How do I reset my password?", "I forgot my login and need a new one."),
    ("How do I close my account?", "I want to delete my profile for good."),
    ("She plays the violin in an orchestra.", "The musician performs with a bow and strings."),
    ("She builds violins in a workshop.", "Her job is to make musical instruments of wood."),
    ("The soup is too salty.", "Somebody put far too much salt into the broth."),
    ("The soup is still cold.", "Please warm up the broth before we eat."),
    ("It will rain all day tomorrow.", "The forecast says that the next day will be wet."),
    ("It has not rained since May.", "The drought began in spring and goes on."),
    ("He broke his leg while skiing.", "A winter sports accident left him in plaster."),
    ("He won a medal in skiing.", "The athlete came among the first three on the slope."),
    ("The museum is closed on Mondays.", "You cannot see the exhibition at the start of the week."),
    ("The museum bought a painting.", "A new picture was added to the collection."),
    ("My phone does not charge.", "The battery of my mobile stays empty."),
    ("My phone fell into the lake.", "I dropped my mobile in the water."),
    ("The house was sold for a million.", "Somebody paid a high price for the building."),
    ("The house was built in 1890.", "The building is more than a century old."),
    ("Plants need light to grow.", "Without the sun nothing green would live."),
    ("Plants also sleep at night.", "Many flowers close when it gets dark."),
    ("The judge sent him to prison.", "The court decided that he must go to jail."),
    ("The judge set him free.", "The court let the accused man go home."),
    (
        "Bake the bread for forty minutes.",
        "The loaf must stay in the oven for two thirds of an hour.",
    ),
    ("Cut the bread into thin slices.", "Take a knife and divide the loaf into small pieces."),
    ("The child is afraid of the dark.", "At night the little girl wants a lamp next to her bed."),
    ("The child is good at numbers.", "The little boy calculates faster than his teacher."),
    ("Prices rose by five percent.", "Everything became a little more expensive."),
    ("Prices fell for the first time.", "Goods have never before become cheaper."),
    ("The river flooded the village.", "High water stood in the streets of the small town."),
    ("The river is frozen.", "Ice covers the stream from one bank to the other."),
)

# A sentence that ends where its last word decides what "it" means; two nouns; a last word for each.
# Every noun and last word is one token in both models.
PRONOUN_PAIRS = (
    ("The cat sat on the mat because it was", "cat", "mat", "tired", "soft"),
    ("The dog chased the ball because it was", "dog", "ball", "playful", "round"),
    ("The sword did not fit into the box because it was too", "sword", "box", "long", "short"),
    ("The horse ate the apple because it was", "horse", "apple", "hungry", "ripe"),
    ("The truck broke the wall because it was", "truck", "wall", "fast", "weak"),
    ("The goat drank the milk because it was", "goat", "milk", "thirsty", "fresh"),
    ("The puppy slept in the basket because it was", "puppy", "basket", "sleepy", "warm"),
    ("The bird left the nest because it was", "bird", "nest", "restless", "wet"),
    ("The mouse feared the storm because it was", "mouse", "storm", "shy", "loud"),
    ("The rabbit ran from the fire because it was", "rabbit", "fire", "scared", "hot"),
    ("The knife cut the cheese because it was", "knife", "cheese", "sharp", "soft"),
    ("The hammer broke the glass because it was", "hammer", "glass", "heavy", "thin"),
    ("The cow jumped over the fence because it was", "cow", "fence", "bored", "low"),
    ("The snake swallowed the egg because it was", "snake", "egg", "hungry", "small"),
    ("The wolf crossed the river because it was", "wolf", "river", "brave", "shallow"),
    ("The monkey climbed the tree because it was", "monkey", "tree", "curious", "tall"),
    ("The bear went through the door because it was", "bear", "door", "strong", "open"),
    ("The pig avoided the mud because it was", "pig", "mud", "clean", "deep"),
    ("The train stopped at the bridge because it was", "train", "bridge", "late", "closed"),
    ("The lion ignored the bone because it was", "lion", "bone", "full", "old"),
    ("The rat hid under the chair because it was", "rat", "chair", "afraid", "low"),
    ("The kitten scratched the carpet because it was", "kitten", "carpet", "bored", "rough"),
    ("The duck stayed on the pond because it was", "duck", "pond", "lazy", "calm"),
    ("The spider sat in the corner because it was", "spider", "corner", "lazy", "dark"),
)


def halves(items):
    """The first half, to choose heads on, and the second, to report on.

    Neighbours among the pairs are about the same thing and stay together: each makes the other's
    partner harder to find.

    Examples
    --------
    >>> halves("abcdef")
    ('abc', 'def')
    """
    middle = len(items) // 2
    return items[:middle], items[middle:]
