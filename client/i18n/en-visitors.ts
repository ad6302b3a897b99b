import { accountEnglish } from '#core/errors/accounts.en.ts'
import { generalEnglish } from '#core/errors/general.en.ts'
import shared from './en.json'
import auth from '../features/auth/en.json'
import pricing from '../features/pricing/en.json'
import setup from '../features/setup/en.json'
import site from '../features/site/en.json'

/** What the pages show that are open to everybody; a slow line carries no more before the sign-in. */
export const visitorEnglish = { ...shared, ...auth, ...pricing, ...setup, ...site }
export const visitorErrors: Record<string, string> = { ...generalEnglish, ...accountEnglish }
