/** Why a provider's answer signed nobody in, from the page it led back to until the login page has said it. */
let failure = ''

export const callbackFailure = {
  set: (text: string): void => void (failure = text),
  get: (): string => failure,
}
