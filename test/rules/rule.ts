/** What the product holds itself to, and the test that fails when it does not. */
export type Rule = {
  /** The rule, limit or message in a sentence. */
  rule: string
  kind?: RuleList['kind']
  /** The message as the product shows it, in Chinese; it has to stand in the product's code as it stands here. */
  message?: string
  /**
   * What the test asserts, as it is written in the test: a message, a code of the error catalogue, a number. Without it the
   * message itself.
   */
  asserts?: string
  file: string
  /** The name of the test in that file, exactly as it is written there. */
  test: string
}

/** A rule as it is listed below its test: its sentence alone, where the name of the test is proof enough. */
type Listed = string | (Pick<Rule, 'rule' | 'asserts'> & { message?: string | readonly string[] })

/** Rules that belong together: heading → file → name of the test → what it asserts. */
export type RuleList = {
  title: string
  /** A limit holds a figure that the test asserts; a preset is what stands there until somebody chooses otherwise, or what is offered. */
  kind?: 'limit' | 'preset'
  sections: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, Listed | readonly Listed[]>>>>>>
}

function rowsOf(listed: Listed, of: Pick<Rule, 'kind' | 'file' | 'test'>): Rule[] {
  if (typeof listed === 'string') return [{ ...of, rule: listed }]
  const { message, ...rest } = listed
  if (message === undefined) return [{ ...of, ...rest }]
  return [message].flat().map((each) => ({ ...of, ...rest, message: each }))
}

/** The rules of a list, a row each, by their headings. */
export const sectionsOf = ({ kind, sections }: RuleList): [string, Rule[]][] =>
  Object.entries(sections).map(([heading, files]) => [
    heading,
    Object.entries(files).flatMap(([file, tests]) =>
      Object.entries(tests).flatMap(([test, listed]) =>
        [listed].flat().flatMap((each) => rowsOf(each, { ...(kind && { kind }), file, test })),
      ),
    ),
  ])

export const rulesOf = (list: RuleList): Rule[] => sectionsOf(list).flatMap(([, rules]) => rules)
