import { Router } from 'wouter'
import { useLanguage } from '../i18n/language.ts'
import { useGuardedLocation } from '../lib/leave-guard.ts'
import { PaletteHost } from './palette-host.tsx'
import { Providers } from './providers.tsx'
import { AppRouter } from './router.tsx'

export function App() {
  // Redraws everything when the language changes; state stays.
  useLanguage()
  return (
    <Providers>
      <Router hook={useGuardedLocation}>
        <AppRouter />
        <PaletteHost />
      </Router>
    </Providers>
  )
}
