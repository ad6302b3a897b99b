import { visitorEnglish } from './en-visitors.ts'
import account from '../features/account/en.json'
import audit from '../features/audit/en.json'
import channels from '../features/channels/en.json'
import chat from '../features/chat/en.json'
import groups from '../features/groups/en.json'
import logs from '../features/logs/en.json'
import messages from '../features/messages/en.json'
import models from '../features/models/en.json'
import options from '../features/options/en.json'
import orders from '../features/orders/en.json'
import plans from '../features/plans/en.json'
import playground from '../features/playground/en.json'
import prices from '../features/prices/en.json'
import redemptions from '../features/redemptions/en.json'
import stats from '../features/stats/en.json'
import system from '../features/system/en.json'
import tasks from '../features/tasks/en.json'
import tokens from '../features/tokens/en.json'
import users from '../features/users/en.json'
import wallet from '../features/wallet/en.json'

export { englishMessages as englishErrors } from '#core/errors.en.ts'

/** Every sentence with its English; one file for what is shared and one beside each feature. */
export const english = {
  ...visitorEnglish,
  ...account,
  ...audit,
  ...channels,
  ...chat,
  ...groups,
  ...logs,
  ...messages,
  ...models,
  ...options,
  ...orders,
  ...plans,
  ...playground,
  ...prices,
  ...redemptions,
  ...stats,
  ...system,
  ...tasks,
  ...tokens,
  ...users,
  ...wallet,
}
