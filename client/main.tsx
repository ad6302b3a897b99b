import './lib/later-functions.ts'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import { confirm } from './components/confirm.tsx'
import { startLanguage } from './i18n/t.ts'
import { guardHistory, leaveWords, setLeaveQuestion } from './lib/leave-guard.ts'
import { allowMovedNodes } from './lib/moved-nodes.ts'
import { currentUser } from './lib/session.ts'
import { followThemeMode } from './theme/theme-mode.ts'

allowMovedNodes()
followThemeMode()
guardHistory()
setLeaveQuestion(() => confirm(leaveWords()))
await startLanguage(currentUser() !== undefined)

const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
}
