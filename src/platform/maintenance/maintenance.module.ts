import { Module } from '@nestjs/common';
import { HttpModule } from '../http/index.js';
import { DatabaseMaintenance } from './database-maintenance.js';

@Module({ imports: [HttpModule], providers: [DatabaseMaintenance] })
export class MaintenanceModule {}
