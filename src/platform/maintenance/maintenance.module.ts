import { Module } from '@nestjs/common';
import { DatabaseMaintenance } from './database-maintenance.js';

@Module({ providers: [DatabaseMaintenance] })
export class MaintenanceModule {}
