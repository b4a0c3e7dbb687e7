// Texts to start with. People and places are invented.
const joined = (...lines) => lines.join(" ");

export const examples = {
  review: joined(
    "I went in with low expectations and came out smiling. The acting is wonderful, the music",
    "stays with you for days, and the ending made my mother cry. It is twenty minutes too long,",
    "and the villain is boring, but I would watch it again tomorrow.",
  ),
  note: joined(
    "Patient is a 54 year old woman with diabetes, treated with insulin for nine years. She",
    "reports chest pain after climbing stairs, and her blood pressure is high. Her brother had a",
    "stroke last winter. We stopped the old drug and asked her to return on Monday.",
  ),
  mail: joined(
    "Hi Laura,\nI talked to the bank in Chicago this morning. They will not extend the loan, so",
    "we have to pay the rent for October from our savings. Please do not tell Peter before the",
    "meeting on Thursday. My lawyer thinks we can still win.\nSee you at the airport, Anna",
  ),
};
