import { Box, Button, Skeleton, Stack } from '@chakra-ui/react'
import { Lock, Search } from 'lucide-react'
import { useEffect } from 'react'
import { FormProvider } from 'react-hook-form'
import { settingsTabs } from '#core/options/groups.ts'
import { isOptionKey, type OptionKey, optionOf } from '#core/options/registry/index.ts'
import { FilterBar } from '../../components/filter-bar/filter-bar.tsx'
import { Page as Frame } from '../../components/page.tsx'
import { EmptyState, ErrorState, StaleNotice } from '../../components/states.tsx'
import { UrlTabs } from '../../components/url-tabs.tsx'
import { inLanguage, t } from '../../i18n/t.ts'
import { useSession } from '../../lib/session.ts'
import { trpc } from '../../lib/trpc.ts'
import { useUrlState } from '../../lib/url-state.ts'
import { FailedCharges } from './failed-charges.tsx'
import { Jobs } from './jobs.tsx'
import { revealOption } from './reveal.ts'
import { SaveBar } from './save-bar.tsx'
import { Section } from './section.tsx'
import { SettingsProvider, useSettingsForm, type OptionView } from './settings-form.ts'
import { SystemInfo } from './system-info.tsx'
import { fields, sections, tabKeys, tabOf } from './values.ts'
import { matching } from './words.ts'

export function Page() {
  const { isRoot } = useSession()
  const options = trpc.admin.options.list.useQuery(undefined, { enabled: isRoot })
  const [values, setValues] = useUrlState({ q: '' })
  if (!isRoot) {
    return (
      <Frame title={t('系统设置')}>
        <EmptyState icon={Lock} title={t('只有超级管理员可以查看和修改系统设置')} />
      </Frame>
    )
  }
  return (
    <Frame
      title={t('系统设置')}
      width="wide"
      extra={<FilterBar query={{ id: 'q', placeholder: t('搜索设置') }} values={values} onChange={setValues} />}
    >
      {options.data ? (
        <>
          {options.error && <StaleNotice error={options.error} onRetry={options.refetch} />}
          <Loaded options={options.data} query={values.q} onClearQuery={() => setValues({ q: '' })} />
        </>
      ) : options.error ? (
        <ErrorState error={options.error} title={t('系统设置加载失败')} onRetry={() => void options.refetch()} />
      ) : (
        <Stack gap="4" aria-hidden>
          <Skeleton h="8" />
          {Array.from({ length: 6 }, (_, index) => (
            <Skeleton key={index} h="14" />
          ))}
        </Stack>
      )}
    </Frame>
  )
}

/** Drawn as text in a tab of its own. */
const isPriceTable = (key: OptionKey): boolean => optionOf(key).widget === 'price-table'

type LoadedProps = { options: readonly OptionView[]; query: string; onClearQuery: () => void }

function Loaded({ options, query, onClearQuery }: LoadedProps) {
  const settings = useSettingsForm(options)
  const [, setPlace] = useUrlState({ tab: 'operation', q: '', ratio: 'visual' })
  const tabs = (key: OptionKey) => ({ tab: tabOf(key), ...(isPriceTable(key) ? { ratio: 'model' } : {}) })
  const show = (key: OptionKey) => {
    setPlace({ ...tabs(key), q: '' })
    revealOption(key)
  }
  const words = query.trim()
  const named = isOptionKey(words) && fields.some(({ key }) => key === words) ? words : undefined
  // An address that names one option leads to its place among the others.
  useEffect(() => {
    if (named === undefined) return
    setPlace(tabs(named), { replace: true })
    revealOption(named)
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [named])
  return (
    <SettingsProvider value={settings}>
      <FormProvider {...settings.form}>
        <Box flex="1 0 auto">{words === '' || named ? <Tabs /> : <Hits query={query} onClear={onClearQuery} />}</Box>
        <SaveBar onShow={show} />
      </FormProvider>
    </SettingsProvider>
  )
}

function Tabs() {
  return (
    <UrlTabs
      label={t('系统设置')}
      tabs={tabKeys.map((tab) => ({
        id: tab,
        label: inLanguage(settingsTabs[tab]),
        content: (
          <Box>
            {tab === 'other' && <SystemInfo />}
            {sections
              .filter((section) => section.tab === tab)
              .map((section) => (
                <Section key={section.group} section={section} />
              ))}
            {tab === 'operation' && (
              <>
                <Jobs />
                <FailedCharges />
              </>
            )}
          </Box>
        ),
      }))}
    />
  )
}

function Hits({ query, onClear }: { query: string; onClear: () => void }) {
  const found = matching(sections, query)
  if (found.length === 0) {
    return (
      <EmptyState
        icon={Search}
        title={t('没有匹配的设置')}
        action={<Button onClick={onClear}>{t('清除筛选')}</Button>}
      />
    )
  }
  return (
    <Box>
      {found.map((section) => (
        <Section key={section.group} section={section} showTab />
      ))}
    </Box>
  )
}
