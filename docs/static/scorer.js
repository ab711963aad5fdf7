/* Ranks the results of the search: guides and tutorials first, pages made from docstrings last. */
"use strict";

const GUIDE = /^(how-to|tutorials)\/|^(centrality|clusters|from-\w+|openstreetmap|prepared|reach|turns|weights)$/;
const MADE = /^(generated|decisions)\/|^reference\/(api|commands)$/;

const BONUS = (page) => (GUIDE.test(page) ? 20 : MADE.test(page) ? -40 : /^(command-line|python)$/.test(page) ? 10 : 0);

var Scorer = {
  score: ([page, , , , score]) => score + BONUS(page),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
