import { Ability } from './ability.ts'
import { AuditEntry } from './audit-entry.ts'
import { Authenticator } from './authenticator.ts'
import { Channel } from './channel.ts'
import { Conversation } from './conversation.ts'
import { ConversationItem } from './conversation-item.ts'
import { ChannelBalance } from './channel-balance.ts'
import { ChannelCooldown } from './channel-cooldown.ts'
import { ChannelDrift } from './channel-drift.ts'
import { ChannelKey } from './channel-key.ts'
import { ChannelProbe } from './channel-probe.ts'
import { ChannelSearch } from './channel-search.ts'
import { EarlyPaymentEvent } from './early-payment-event.ts'
import { DrawingTask } from './drawing-task.ts'
import { FailedCharge } from './failed-charge.ts'
import { FailuresByGroup } from './failures-by-group.ts'
import { FailuresHourly } from './failures-hourly.ts'
import { Grant } from './grant.ts'
import { Hold } from './hold.ts'
import { IdempotencyKey } from './idempotency-key.ts'
import { InstallationFact } from './installation-fact.ts'
import { JobRun } from './job-run.ts'
import { Node } from './node.ts'
import { Lease } from './lease.ts'
import { LocalResponse } from './local-response.ts'
import { LogHour } from './log-hour.ts'
import { Log } from './log.ts'
import { Message } from './message.ts'
import { MessageBatch } from './message-batch.ts'
import { MessageRecipient } from './message-recipient.ts'
import { MusicTask } from './music-task.ts'
import { NotificationCount } from './notification-count.ts'
import { OAuthState } from './oauth-state.ts'
import { OneTimeCode } from './one-time-code.ts'
import { Option } from './option.ts'
import { Plan } from './plan.ts'
import { PlanNotice } from './plan-notice.ts'
import { Rebate } from './rebate.ts'
import { Passkey } from './passkey.ts'
import { RecoveryCode } from './recovery-code.ts'
import { PriceChange } from './price-change.ts'
import { Redemption } from './redemption.ts'
import { RedemptionUse } from './redemption-use.ts'
import { RetiredTokenKey } from './retired-token-key.ts'
import { Session } from './session.ts'
import { SettledCall } from './settled-call.ts'
import { SetupRecord } from './setup-record.ts'
import { SignInChallenge } from './sign-in-challenge.ts'
import { TaskCharge } from './task-charge.ts'
import { Token } from './token.ts'
import { TokenNameHour } from './token-name-hour.ts'
import { TopUpOrder } from './top-up-order.ts'
import { SpendCap } from './spend-cap.ts'
import { SpendCapBucket } from './spend-cap-bucket.ts'
import { Subscription } from './subscription.ts'
import { SubscriptionCharge } from './subscription-charge.ts'
import { TopUpOrderEvent } from './top-up-order-event.ts'
import { StoredResponse } from './stored-response.ts'
import { UsageByChannel } from './usage-by-channel.ts'
import { UsageByHour } from './usage-by-hour.ts'
import { UsageByModel } from './usage-by-model.ts'
import { UsageHourly } from './usage-hourly.ts'
import { UsageRollup } from './usage-rollup.ts'
import { UsageTotals } from './usage-totals.ts'
import { User } from './user.ts'

/** Every table, named one by one so that nothing is found by globbing. */
export const entities = [
  Ability,
  AuditEntry,
  Authenticator,
  Channel,
  Conversation,
  ConversationItem,
  ChannelBalance,
  ChannelCooldown,
  ChannelDrift,
  ChannelKey,
  ChannelProbe,
  ChannelSearch,
  EarlyPaymentEvent,
  DrawingTask,
  FailedCharge,
  FailuresByGroup,
  FailuresHourly,
  Grant,
  Hold,
  IdempotencyKey,
  InstallationFact,
  JobRun,
  Node,
  Lease,
  LocalResponse,
  Log,
  LogHour,
  Message,
  MessageBatch,
  MessageRecipient,
  MusicTask,
  NotificationCount,
  OAuthState,
  OneTimeCode,
  Option,
  Rebate,
  Passkey,
  RecoveryCode,
  Plan,
  PlanNotice,
  PriceChange,
  Redemption,
  RedemptionUse,
  RetiredTokenKey,
  Session,
  SettledCall,
  SetupRecord,
  SpendCap,
  SpendCapBucket,
  Subscription,
  SubscriptionCharge,
  SignInChallenge,
  TaskCharge,
  Token,
  TokenNameHour,
  TopUpOrder,
  TopUpOrderEvent,
  StoredResponse,
  UsageByChannel,
  UsageByHour,
  UsageByModel,
  UsageHourly,
  UsageRollup,
  UsageTotals,
  User,
]
