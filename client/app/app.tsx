import { useLanguage } from '../i18n/language.ts'
import { AppRouter } from './router.tsx'
import { Providers } from './providers.tsx'

export function App() {
  // Redraws everything when the language changes; state stays.
  useLanguage()
  return (
    <Providers>
      <AppRouter />
    </Providers>
  )
}
