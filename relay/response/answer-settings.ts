import type { ReasoningPlace } from '#relay/chat/reasoning.ts'
import type { CallerDialect } from '#relay/dialects/types.ts'

type Setting = Readonly<Record<string, unknown>>

/** What a channel's `setting` wants done to answers on their way to callers. */
export type AnswerSettings = {
  reasoning: ReasoningPlace
  /** An answer in the caller's own dialect is read and written anew instead of going out as received. */
  rewrites: boolean
}

/**
 * Chat completions have no agreed place for thoughts, so the settings that move them or bring answers to the canonical
 * shape change those. Dialects that have one keep their thoughts, which go back signed; thoughts in tags become thoughts
 * wherever an answer is translated.
 */
export function answerSettings(
  setting: Setting,
  { hasReasoningPlace }: Pick<CallerDialect, 'hasReasoningPlace'>,
): AnswerSettings {
  const reasoning = {
    fromTags: setting['think_tag_to_reasoning'] === true,
    asText: !hasReasoningPlace && setting['thinking_to_content'] === true,
  }
  return {
    reasoning,
    rewrites: !hasReasoningPlace && (setting['force_format'] === true || reasoning.fromTags || reasoning.asText),
  }
}
