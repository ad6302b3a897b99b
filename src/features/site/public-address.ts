import type { Services } from '../deps.ts'

/** Where browsers and gateways find this site. Never what a request says of itself: its Host header is the caller's own claim. */
export const publicAddress = ({ options, environment }: Pick<Services, 'options' | 'environment'>): string =>
  options.get('ServerAddress') || `http://localhost:${environment.PORT}`
