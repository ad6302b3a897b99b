import { DomainError, type ErrorCode, errorRow } from '#core/errors.ts'
import { renderMessage } from '#core/render-message.ts'
import { failureOfDomainError } from '#relay/attempt/failure.ts'
import { type Blocks, code, table } from './markdown.ts'

/** Every check of a call in its order; `test/relay/checks.test.ts` makes one call fail each of them in turn. */
export const admissionChecks: readonly { code: ErrorCode; when: string }[] = [
  { code: 'relay.stopping', when: 'the process is stopping' },
  { code: 'relay.token_missing', when: 'no key where the path looks for one' },
  { code: 'relay.token_invalid', when: 'no such key' },
  { code: 'relay.token_exhausted', when: 'the token’s status is exhausted' },
  { code: 'relay.token_expired', when: 'its status is expired' },
  { code: 'relay.token_unavailable', when: 'its status is disabled' },
  { code: 'relay.token_expired', when: 'its time of expiry has passed; its status becomes expired' },
  { code: 'relay.token_exhausted', when: 'its quota is used up and no hold is open; its status becomes exhausted' },
  { code: 'relay.user_unavailable', when: 'its owner was deleted' },
  { code: 'relay.user_banned', when: 'its owner is banned' },
  { code: 'relay.pin_forbidden', when: 'the key names a channel, and its owner is no administrator' },
  { code: 'relay.token_rate_limited', when: 'the token’s limit of requests is reached' },
  {
    code: 'relay.rate_limited_total',
    when: 'the owner’s limit of requests is reached; for that of successful requests `relay.rate_limited_success`',
  },
  { code: 'relay.ip_forbidden', when: 'the caller’s address is not among the token’s' },
  { code: 'relay.body_invalid', when: 'the body is too large (413), no JSON object, or no request of its dialect' },
  { code: 'relay.model_name_too_long', when: 'the model’s name is too long' },
  { code: 'relay.group_forbidden', when: 'the token’s group is not open to its owner' },
  { code: 'relay.group_disabled', when: 'the group has no ratio any more' },
  { code: 'relay.pinned_channel_invalid', when: 'the channel named by the key does not exist' },
  { code: 'relay.pinned_channel_disabled', when: 'that channel is disabled' },
  {
    code: 'relay.model_none_allowed',
    when: 'the token is limited to no models at all; a named channel skips this and the next',
  },
  { code: 'relay.model_forbidden', when: 'the token is limited to other models' },
  {
    code: 'relay.browser_extension_blocked',
    when: 'a browser extension sends chat completions, where that is blocked',
  },
  { code: 'relay.sensitive_words', when: 'the texts of the call contain sensitive words' },
  { code: 'relay.no_channel', when: 'no channel of the group serves the model' },
  { code: 'relay.channel_missing', when: 'routing names a channel that does not exist' },
  { code: 'relay.price_missing', when: 'the model has no price' },
  { code: 'relay.plan_spent', when: 'the plan pays alone, and its windows do not cover the hold' },
  { code: 'relay.user_quota_empty', when: 'the balance is zero or below, and no plan pays' },
  { code: 'relay.user_quota_insufficient', when: 'plan and balance do not cover the hold' },
  { code: 'relay.token_quota_insufficient', when: 'the token’s quota does not cover the hold' },
  { code: 'relay.user_spend_cap_reached', when: 'a spend cap of the user does not cover the hold' },
  { code: 'relay.token_spend_cap_reached', when: 'a spend cap of the token does not cover the hold' },
]

const statusOf = (name: ErrorCode): number => failureOfDomainError(new DomainError(name as 'internal')).status

export const admissionBlocks: Blocks = {
  checks: () =>
    table(
      ['', 'refused when', 'status', '`code` on the wire', 'message', 'error code'],
      admissionChecks.map(({ code: name, when }, index) => [
        String(index + 1),
        when,
        String(statusOf(name)),
        code(errorRow(name).wire ?? ''),
        renderMessage({ code: name }, 'en'),
        code(name),
      ]),
    ),
}
