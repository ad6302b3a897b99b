import { SimpleGrid, Stack } from '@chakra-ui/react'
import { settingsTabs } from '#core/options/groups.ts'
import { inLanguage } from '../../i18n/t.ts'
import { MailTest, OidcTest } from './connection-tests.tsx'
import { FallbackRule, PasswordLoginRule } from './form-rules.tsx'
import { GroupsEditor } from './groups/editor.tsx'
import { LogClearing } from './log-clearing.tsx'
import { MappingTable } from './mapping/table.tsx'
import { OidcDiscovery } from './oidc-discovery.tsx'
import { OptionField } from './option-field.tsx'
import { PriceTabs } from './prices/tabs.tsx'
import type { SettingsSection } from './values.ts'
import { SectionFrame } from './section-frame.tsx'

type SectionProps = {
  section: SettingsSection
  /** Among the hits of a search, where the tab is not plain. */
  showTab?: boolean
}

/** One group of options: its name at the left, its fields beside it. */
export function Section({ section, showTab = false }: SectionProps) {
  const { group, label, tab } = section
  const ownsPage = group === 'prices' || group === 'mapping'
  return (
    <SectionFrame
      title={inLanguage(label)}
      help={showTab && inLanguage(settingsTabs[tab])}
      {...(ownsPage ? { templateColumns: 'minmax(0, 1fr)' } : {})}
      borderBottomWidth="1px"
      _last={{ borderBottomWidth: '0' }}
      _first={{ pt: '1' }}
    >
      <Content section={section} isHit={showTab} />
    </SectionFrame>
  )
}

function Content({ section, isHit }: { section: SettingsSection; isHit: boolean }) {
  const { group, fields } = section
  if (group === 'mapping') return <MappingTable />
  if (group === 'prices' && !isHit) return <PriceTabs fields={fields} />
  return (
    <Stack gap="5" minW="0">
      <SimpleGrid columns={{ base: 1, sm: 2 }} columnGap="5" rowGap="5">
        {group === 'groups' ? (
          <GroupsEditor fields={fields} />
        ) : (
          fields.map((field) => (
            <OptionField
              key={field.key}
              field={field}
              extra={field.key === 'oidc.well_known' ? <OidcDiscovery /> : undefined}
            />
          ))
        )}
      </SimpleGrid>
      {group === 'login' && <PasswordLoginRule />}
      {group === 'fallback' && <FallbackRule />}
      {group === 'logs' && <LogClearing />}
      {group === 'mail' && <MailTest />}
      {group === 'oidc' && <OidcTest />}
    </Stack>
  )
}
