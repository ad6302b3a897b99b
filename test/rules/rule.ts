/** What the product holds itself to, and the test that fails when it does not. */
export type Rule = {
  /** The rule, limit or message in a sentence. */
  rule: string
  /** A limit holds a figure that the test asserts; a preset is what stands there until somebody chooses otherwise, or what is offered. */
  kind?: 'limit' | 'preset'
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

/** Rules that belong together, under the heading they are listed by. */
export type RuleList = { title: string; sections: Readonly<Record<string, readonly Rule[]>> }
